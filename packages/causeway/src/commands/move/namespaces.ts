import { CausewayError, messageOf } from "@causeway/foundation";

/** How one namespace is checked, which changes nothing, and moved. */
export interface EachNamespace {
  readonly check: (namespace: string) => Promise<void>;
  readonly move: (namespace: string) => Promise<void>;
  readonly report: (line: string) => void;
  /** Nothing more than a check is wanted, which `move` is then. */
  readonly dryRun: boolean;
}

/**
 * All are checked before the first one moves. What is refused is reported, and the others move.
 * @throws MOVE_NAMESPACES_LEFT
 */
export async function moveEach(
  namespaces: readonly string[],
  { check, move, report, dryRun }: EachNamespace,
  signal: AbortSignal,
): Promise<void> {
  const left = new Set<string>();
  const attempt = async (work: EachNamespace["move"]): Promise<void> => {
    for (const namespace of namespaces) {
      if (left.has(namespace)) continue;
      signal.throwIfAborted();
      try {
        await work(namespace);
      } catch (error) {
        signal.throwIfAborted();
        left.add(namespace);
        report(`${namespace}: ${described(error)}`);
      }
    }
  };
  if (!dryRun) await attempt(check);
  await attempt(move);
  if (left.size === 0) return;
  throw new CausewayError(
    "MOVE_NAMESPACES_LEFT",
    `${left.size} of ${namespaces.length} namespaces ${dryRun ? "cannot move" : "did not move"}: ${[...left].join(", ")}`,
    { hint: "Why is reported above for each. Repeat the command when that is repaired." },
  );
}

function described(error: unknown): string {
  if (!(error instanceof CausewayError)) return messageOf(error);
  return `${error.code}: ${error.message}${error.hint === undefined ? "" : `. ${error.hint}`}`;
}
