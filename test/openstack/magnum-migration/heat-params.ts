/**
 * The parameters that the driver's script writes to /etc/sysconfig/heat-params: lines `NAME="VALUE"`, where `\n`
 * represents the end of a line.
 */
export function parameters(script: string): Readonly<Record<string, string>> {
  const [, text = ""] = /cat > \$\{HEAT_PARAMS\} <<EOF\n([\s\S]*?)\nEOF\n/.exec(script) ?? [];
  const lines = [...text.matchAll(/^([A-Z0-9_]+)="([^"]*)"$/gm)];
  return Object.fromEntries(lines.map(([, name = "", value = ""]) => [name, value.replaceAll("\\n", "\n")]));
}
