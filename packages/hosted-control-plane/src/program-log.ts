/** The last line of a program's output that says why it failed, or else its last line; "" of an empty output. */
export function tellingLine(output: string): string {
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  const meant = lines
    .filter((line) => /(^[EF]\d{4} )|^Error: |^panic: |"level":"(error|fatal|panic)"/.test(line))
    .at(-1);
  return textOfLine(meant ?? lines.at(-1) ?? "");
}

/** What a line says: of JSON, as etcd writes it, its message and its error. A full disk cuts lines off. */
function textOfLine(line: string): string {
  if (!line.startsWith("{")) return line;
  const found = ["msg", "error"].flatMap(
    (field) => new RegExp(`"${field}":("(?:[^"\\\\]|\\\\.)*")`).exec(line)?.[1] ?? [],
  );
  return found.length === 0 ? line : found.map((text) => String(JSON.parse(text))).join(": ");
}
