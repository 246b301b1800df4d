// The page of a comparison: its figures, drawn here, and its tables.

function reportFigure(figure) {
  const chart = {
    xLabel: figure.x_label,
    yLabel: figure.y_label,
    isXLog: figure.is_x_log,
    isYLog: figure.is_y_log,
    description: `${figure.title}. ${figure.caption} The numbers are in the tables below.`,
    series: figure.series.map((series, i) => ({
      name: series.name,
      color: series.color >= 0 ? series.color : i,
      isDashed: series.is_dashed,
      dashes: figure.series.length > 4 && !series.is_band ? i % 3 : 0,
      isBand: series.is_band,
      hasMarks: series.has_marks,
      points: series.points.map(([x, y, error]) => (series.is_band ? {x, low: y - error, high: y + error} : {x, y, error})),
    })),
  };
  // What is exact has no place on a logarithmic axis: it is drawn at the lowest of the others, and named.
  let hasExact = false;
  if (chart.isYLog) {
    const positive = chart.series.flatMap((series) => series.points.map((p) => p.y)).filter((y) => y > 1e-9);
    const floor = positive.length > 0 ? Math.min(...positive) / 3 : 1e-9;
    for (const series of chart.series) {
      for (const p of series.points) {
        if (p.y === undefined || Math.abs(p.y) > 1e-9) continue;
        p.y = floor;
        hasExact = true;
      }
    }
  }
  return h(
    "div",
    {},
    h("h3", {}, figure.title),
    chartFigure(chart).element,
    h("p", {class: "hint"}, figure.caption, hasExact ? " Points at the bottom are exact." : ""),
  );
}

function reportTable(table) {
  const number = (text) => {
    if (text === "exact") return 0;
    const value = Number.parseFloat(text);
    return Number.isNaN(value) ? Infinity : value;
  };
  const columns = table.header.map((title, c) => ({
    title,
    numeric: c > 0,
    cell: (row) => row[c].replace(" +- ", " ± "),
    value: (row) => (c === 0 ? row[0] : number(row[c])),
  }));
  return h(
    "div",
    {},
    h("h3", {}, table.title),
    richTable({label: table.title, columns, rows: table.rows, found: (row) => row[0]}),
    table.remark && h("p", {class: "hint"}, table.remark),
  );
}

function reportPage(data) {
  return {
    title: data.title,
    intro: [data.advice && h("p", {class: "lead"}, data.advice), h("p", {}, data.introduction)],
    parts: [
      ["figures", "Figures", data.figures.length > 0 ? h("div", {}, data.figures.map(reportFigure)) : null],
      ["tables", "Tables", h("div", {}, data.tables.map(reportTable))],
      ["made", "How it was made", facts(data.options)],
    ],
  };
}
