// The page of an answer: its parts in order. What was asked comes first; of a network, its graph next.

function answerPage(data) {
  const answer = data.answer,
    model = modelOf(data);
  const file = answer.model.file.split("/").pop();
  const graph = ["graph", "Graph", graphSection(model)];
  const found = [
    ["marginals", "Marginals", marginalsSection(model, answer)],
    ["best", "Most probable configuration", bestSection(model, answer)],
  ];
  return {
    title: file || "Answer",
    intro: alerts(answer),
    layout: model.isNetwork && model.scopes ? "beside" : null,
    parts: [
      ["asked", "What was asked", questionSection(data, model)],
      ...(model.isNetwork ? [graph, ...found] : [...found, graph]),
      ["influence", "Influence", influenceSection(data, model)],
      ["certified", "What is certified", certifiedSection(data)],
      ["trace", "Bounds over time", traceSection(data)],
      ["tree", "Explored tree", treeSection(model, data.tree)],
      ["request", "How it was asked", requestSection(data)],
      ["spent", "What it took", spentSection(data)],
    ],
  };
}
