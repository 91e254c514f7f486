import type { Answer, Json } from "../interface.ts";
import { DEFINITIONS } from "../cases/custom-resource.ts";
import { randomDefinition } from "./definitions.ts";
import { Normal } from "./normal.ts";
import { differences } from "./report.ts";
import type { Pair } from "./run.ts";

const LANES = 4;

/**
 * Tries random CRDs on both servers, as dry runs, and returns the differences of their responses: one text for each.
 * `skipped` counts those that the real server has no answer to: some schemas end its handler.
 */
export async function defineBoth(
  { theirs, ours }: Pair,
  { seed, count }: { readonly seed: number; readonly count: number },
): Promise<{ readonly found: readonly string[]; readonly skipped: number }> {
  const found: string[] = [];
  let [next, skipped] = [0, 0];
  const lane = async (): Promise<void> => {
    for (let i = next; i < count; i = next) {
      next += 1;
      const definition = randomDefinition(seed * 100_000 + i, `d${i}.fuzz.example.com`);
      const query = { dryRun: "All" };
      const real = await theirs.api.post(DEFINITIONS, definition, { query }).catch(() => undefined);
      if (real === undefined) {
        skipped += 1;
        continue;
      }
      const own = await ours.api.post(DEFINITIONS, definition, { query });
      const [one, other] = [real, own].map(shown);
      const lines = differences(one, other);
      if (lines.length > 0) found.push([`CRD ${i}: ${JSON.stringify(definition["spec"])}`, ...lines].join("\n    at "));
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return { found, skipped };
}

/**
 * An answer without what is known to differ: names are accepted here as a CRD is made, by a controller there.
 */
function shown(answer: Answer): unknown {
  const normal = new Normal().answer(answer) as { code: number; body: Json; warnings?: unknown };
  if (normal.code === 422) return { ...normal, body: causesIn(normal.body) };
  const { status: _status, metadata, ...body } = normal.body;
  const { finalizers: _finalizers, ...rest } = (metadata ?? {}) as Json;
  return { ...normal, body: { ...body, metadata: rest } };
}

function causesIn({ details }: Json): unknown {
  const causes = ((details as Json | undefined)?.["causes"] ?? []) as Json[];
  return [...new Set(causes.map((c) => `${String(c["field"])}: ${withoutStructs(String(c["message"]))}`))].toSorted();
}

/** Go's structs in messages, and names of types that are made up as the server runs. */
function withoutStructs(message: string): string {
  return message
    .replace(/^Invalid value: (?:null|[[{].*[\]}])(: must have exactly|: only \[)/, "Invalid value: <struct>$1")
    .replaceAll(/(selfType\d+|Self)((\.|\._)(@idx|_item|@\w+|_\w+))*/g, "<self>");
}
