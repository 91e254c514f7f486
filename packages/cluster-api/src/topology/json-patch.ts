/** One operation of RFC 6902, of those that patches of a ClusterClass may have. */
export interface Operation {
  readonly op: "add" | "replace" | "remove";
  readonly path: string;
  readonly value?: unknown;
}

const longestPath = 32;

/** Changes `target` in place. @throws Error when the path does not lead anywhere */
export function applyOperation(target: unknown, { op, path, value }: Operation): void {
  const parts = path
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (!path.startsWith("/") || parts.length > longestPath)
    throw new Error(`${op} operation does not apply: invalid path ${path}`);
  const last = parts.pop() ?? "";
  const parent = parts.reduce<unknown>((inner, part) => childOf(inner, part), target);
  if (Array.isArray(parent)) return inList(parent, last, { op, path, value });
  if (typeof parent !== "object" || parent === null) throw missing(op, path);
  if (op !== "add" && !Object.hasOwn(parent, last)) throw missing(op, path);
  if (op === "remove") delete (parent as Record<string, unknown>)[last];
  else
    Object.defineProperty(parent, last, {
      value: structuredClone(value),
      writable: true,
      enumerable: true,
      configurable: true,
    });
}

function missing(op: string, path: string): Error {
  return new Error(`${op} operation does not apply: doc is missing path: ${path}`);
}

function childOf(value: unknown, part: string): unknown {
  if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(part) ? value[Number(part)] : undefined;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
  return (value as Record<string, unknown>)[part];
}

function inList(list: unknown[], part: string, { op, path, value }: Operation): void {
  const at = part === "-" && op === "add" ? list.length : /^(0|[1-9]\d*)$/.test(part) ? Number(part) : -1;
  if (at < 0 || at > list.length - (op === "add" ? 0 : 1)) throw missing(op, path);
  if (op === "remove") list.splice(at, 1);
  else list.splice(at, op === "add" ? 0 : 1, structuredClone(value));
}
