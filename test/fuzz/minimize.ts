import type { Campaign } from "./campaign.ts";
import type { Input, Step } from "./input.ts";
import type { Fault } from "./run-input.ts";

const MOST_TRIES = 60;
/** Milliseconds in which new tries begin: what waits for a server's whole timeout is not tried often. */
const MOST_TIME = 30_000;
const SHOWN = 20_000;

/** A smaller input with the same fault: bodies, paths and raw bytes lose pieces as long as the fault remains. */
export async function minimized(input: Input, fault: Fault, campaign: Pick<Campaign, "judge">): Promise<Input> {
  let best = input;
  let tries = 0;
  const end = performance.now() + MOST_TIME;
  const goesOn = (): boolean => tries < MOST_TRIES && performance.now() < end;
  const shows = async (candidate: Input): Promise<boolean> => {
    tries += 1;
    const faults = await campaign.judge(candidate);
    return faults.some(({ is }) => is === fault.is);
  };
  for (const at of input.steps.keys()) {
    for (const field of ["body", "raw", "path"] as const) {
      const text = best.steps[at]?.[field];
      if (typeof text !== "string" || best.steps[at]?.isPreparation) continue;
      let length = Math.ceil(text.length / 2);
      while (length >= 1 && goesOn()) {
        const smaller = await without(best, { at, field, length }, shows, goesOn);
        if (smaller === best) length = length > 1 ? Math.floor(length / 4) : 0;
        best = smaller;
      }
    }
  }
  return best;
}

interface Cut {
  readonly at: number;
  readonly field: "body" | "raw" | "path";
  readonly length: number;
}

/** The input without the first piece of this length that it does not need, or the input itself. */
async function without(
  input: Input,
  { at, field, length }: Cut,
  shows: (input: Input) => Promise<boolean>,
  goesOn: () => boolean,
) {
  const text = String(input.steps[at]?.[field] ?? "");
  const least = field === "path" ? text.indexOf("?") + 1 : 0;
  for (let start = least; start < text.length && goesOn(); start += length) {
    const rest = text.slice(0, start) + text.slice(start + length);
    const steps = input.steps.map((step, i): Step => (i === at ? { ...step, [field]: rest } : step));
    const candidate = { ...input, steps };
    if (await shows(candidate)) return candidate;
  }
  return input;
}

/** The input as a file of findings has it. */
export function shown(input: Input, fault: Fault): string {
  const text = (body: Step["body"]): string | undefined =>
    body === undefined ? undefined : typeof body === "string" ? body : `base64:${Buffer.from(body).toString("base64")}`;
  const steps = input.steps.map((step) => ({ ...step, body: text(step.body)?.slice(0, SHOWN) }));
  return `${JSON.stringify({ kind: input.kind, fault, steps }, null, 2)}\n`;
}
