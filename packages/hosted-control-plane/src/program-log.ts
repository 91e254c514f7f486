/** A line of an error: klog's, a usage message's, Go's, or a JSON log's, whose level is its first field. */
const FAILURE = /^(?:[EF]\d{4} |Error: |panic: |\{"level":"(?:error|fatal|panic)")/;

/** An audit event, whose end alone is left where a kubelet keeps the end of a log: what a user requested. */
const AUDIT_EVENT = /"apiVersion":"audit\.k8s\.io\/|"stageTimestamp":"/;

/**
 * The last line of a program's output that says why it failed, or else its last line that is no audit event; "" if
 * there is none. It has no control characters: programs write what users sent to them.
 */
export function tellingLine(output: string): string {
  const lines = output.split("\n").filter((line) => line.trim() !== "" && !AUDIT_EVENT.test(line));
  const meant = lines.findLast((line) => FAILURE.test(line));
  return printable(textOfLine(meant ?? lines.at(-1) ?? ""));
}

/** The text in one line, with one space for spaces and what a terminal acts upon or does not show. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{C}\p{Z}]+/gu, " ").trim();
}

/** What a line says: of JSON, as etcd writes it, its message and its error. A full disk cuts lines off. */
function textOfLine(line: string): string {
  if (!line.startsWith("{")) return line;
  const found = ["msg", "error"].flatMap(
    (field) => new RegExp(`"${field}":("(?:[^"\\\\]|\\\\.)*")`).exec(line)?.[1] ?? [],
  );
  try {
    return found.length === 0 ? line : found.map((text) => String(JSON.parse(text))).join(": ");
  } catch {
    // It is no valid JSON.
    return line;
  }
}
