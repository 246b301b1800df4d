// The page without its title and its data: the files of web/ as one text, put together when the project is configured.
#pragma once

namespace treesample {

// Contains {{title}} and then {{data}}, once each.
extern const char* const kPageTemplate;

}  // namespace treesample
