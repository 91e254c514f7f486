import { stringify } from "yaml";

/**
 * A result as one document for programs: JSON with two spaces of indentation and a newline at its end, as kubectl's, or
 * YAML without anchors. Undefined for the outputs for people.
 * @example
 * process.stdout.write(documentOf(swept, options.output) ?? table(swept));
 */
export function documentOf(result: unknown, output: string): string | undefined {
  if (output === "json") return `${JSON.stringify(result, null, 2)}\n`;
  return output === "yaml" ? stringify(result, { aliasDuplicateObjects: false }) : undefined;
}

/** Kubernetes objects as kubectl prints several of them: `kubectl apply -f` takes it. */
export function listOf<T>(items: readonly T[]): { apiVersion: "v1"; kind: "List"; items: readonly T[] } {
  return { apiVersion: "v1", kind: "List", items };
}
