/** A value as Python prints it: the real services put such texts into their messages. */
export function pythonRepr(value: unknown): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string")
    return value.includes("'") && !value.includes('"') ? `"${value}"` : `'${value.replaceAll("'", "\\'")}'`;
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(", ")}]`;
  if (typeof value === "object") {
    const fields = Object.entries(value).map(([key, field]) => `'${key}': ${pythonRepr(field)}`);
    return `{${fields.join(", ")}}`;
  }
  return `${value as number}`;
}
