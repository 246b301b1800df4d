// The page of an answer: its parts in order.

function answerPage(data) {
  const answer = data.answer,
    model = modelOf(data);
  const file = answer.model.file.split("/").pop();
  const intro = [alerts(answer), summaryCards(data)];
  return {
    title: file ? `Answer: ${file}` : "Answer",
    intro,
    parts: [
      ["asked", "What was asked", askedSection(data)],
      ["certified", "What is certified", certifiedSection(data)],
      ["trace", "Bounds over time", traceSection(data)],
      ["queries", "Queries", queriesSection(answer)],
      ["marginals", "Marginals", marginalsSection(model, answer)],
      ["best", "Most probable configuration", bestSection(model, answer)],
      ["graph", "Graph", graphSection(model)],
      ["influence", "Influence", influenceSection(data, model)],
      ["tree", "Explored tree", treeSection(model, data.tree)],
      ["spent", "What it took", spentSection(data)],
    ],
  };
}
