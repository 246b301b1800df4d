// The page of a journal: what was paid for.

function journalPage(data) {
  return {title: data.title, intro: [], parts: []};
}
