/** Labels that Prometheus adds, or that its histograms have. */
const added = ["instance", "job", "le", "namespace", "pod"];
const words = [
  "sum",
  "max",
  "min",
  "rate",
  "increase",
  "by",
  "on",
  "without",
  "histogram_quantile",
  "min_over_time",
  "and",
  "time",
  "or",
  "unless",
];

/** Metrics with their labels, from the table of the reference page. */
export function registered(page: string): ReadonlyMap<string, readonly string[]> {
  const rows = [...page.matchAll(/^\| `([^`]+)` \| (\w+) \| ([^|]*) \|/gm)];
  return new Map(
    rows.flatMap(([, name = "", kind, labels = ""]) => {
      const own = [...labels.split(",").map((label) => label.trim()), ...added];
      const ends = kind === "histogram" ? ["_bucket", "_count", "_sum"] : [""];
      return ends.map((end) => [`${name}${end}`, own] as const);
    }),
  );
}

/** Metrics of an expression that nothing has, and labels that none of its metrics has. */
export function unknownIn(expr: string, known: ReadonlyMap<string, readonly string[]>): string[] {
  const bare = expr.replaceAll(/"[^"]*"/g, '""').replaceAll(/\[[^\]]*\]/g, "");
  const labels = [
    ...[...bare.matchAll(/\{([^}]*)\}/g)].flatMap(([, inside = ""]) => inside.match(/[a-z_]+(?=\s*[=!])/g) ?? []),
    ...[...bare.matchAll(/\b(?:by|on|without)\s*\(([^)]*)\)/g)].flatMap(
      ([, inside = ""]) => inside.match(/[a-z_]+/g) ?? [],
    ),
  ];
  const rest = bare.replaceAll(/\{[^}]*\}/g, "").replaceAll(/\b(?:by|on|without)\s*\([^)]*\)/g, "");
  const metrics = (rest.match(/[a-z_][a-z_0-9]*/g) ?? []).filter((word) => !words.includes(word));
  const has = new Set(metrics.flatMap((metric) => known.get(metric) ?? []));
  return [
    ...metrics.filter((metric) => !known.has(metric)),
    ...labels.filter((label) => !has.has(label)).map((l) => `label ${l}`),
  ];
}
