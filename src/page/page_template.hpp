// The page without its title and its data: web/ as one text, put together when the project is configured.
#pragma once

namespace treesample {

// Contains {{title}} and then {{data}}, once each.
extern const char* const kPageTemplate;

}  // namespace treesample
