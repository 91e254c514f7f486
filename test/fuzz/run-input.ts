import { setTimeout } from "node:timers/promises";
import { bytesOf, type Input, type Step } from "./input.ts";
import { limitsOf } from "./limits.ts";
import type { Reply } from "./client.ts";
import type { Subject } from "./subject.ts";

/** What is wrong with how the server took an input. */
export interface Fault {
  readonly is: "slow" | "large answer" | "memory" | "error" | "dead connection" | "dead process";
  readonly text: string;
}

/** Milliseconds of the server's CPU after which an input is not waited for any longer. */
const STUCK = 20_000;
/** Milliseconds without an answer in which the server's thread did nothing. */
const SILENT = 60_000;
const LOOK = 500;

/** Sends the steps of the inputs, those of one input in order; undefined for those that the server did not finish. */
export async function play(
  subject: Subject,
  inputs: readonly Pick<Input, "steps">[],
): Promise<(Reply[] | undefined)[]> {
  const over = new AbortController();
  const given = givenUp(subject, over.signal);
  const played = await Promise.all(inputs.map((input) => playOne(subject, input, given)));
  over.abort();
  await given;
  return played;
}

async function playOne(
  subject: Subject,
  { steps }: Pick<Input, "steps">,
  given: Promise<undefined>,
): Promise<Reply[] | undefined> {
  const replies: Reply[] = [];
  let token = "";
  for (const step of steps) {
    const reply = await Promise.race([subject.client.send(filled(step, token)), given]);
    if (reply === undefined) return undefined;
    replies.push(reply);
    token = /"continue":"([^"]+)"/.exec(reply.text)?.[1] ?? token;
  }
  return replies;
}

function filled(step: Step, token: string): Step {
  return step.path.includes("{continue}") ? { ...step, path: step.path.replaceAll("{continue}", token) } : step;
}

/** Resolves when there is no use in waiting longer, or when the signal says so. */
async function givenUp(subject: Subject, signal: AbortSignal): Promise<undefined> {
  const begun = subject.cpu();
  let [last, idle] = [begun, 0];
  while (!signal.aborted && subject.exit === undefined) {
    await setTimeout(LOOK, undefined, { signal }).catch(() => {});
    const now = subject.cpu();
    idle = now - last < LOOK / 20 ? idle + LOOK : 0;
    last = now;
    if (now - begun > STUCK || idle >= SILENT) return undefined;
  }
  return undefined;
}

/** The faults that the replies themselves show, without what they cost. */
export function faultsOf(input: Input, replies: readonly Reply[]): Fault[] {
  const limits = limitsOf(bytesOf(input));
  const faults: Fault[] = [];
  let bytes = 0;
  for (const [at, reply] of replies.entries()) {
    const step = input.steps[at];
    if (!step) continue;
    const where = `${step.method} ${step.path.slice(0, 120)}`;
    if (!isFixedDocument(step) && !isWatch(step)) bytes += reply.bytes;
    if (isBroken(step, reply)) faults.push({ is: "dead connection", text: `${where}: ${reply.broken ?? "no answer"}` });
    if (reply.status !== undefined && isServersFault(reply)) {
      faults.push({ is: "error", text: `${where}: ${reply.status} ${reply.text.slice(0, 300)}` });
    }
  }
  if (bytes > limits.answer) {
    faults.push({ is: "large answer", text: `${bytes} bytes for ${bytesOf(input)} sent; limit ${limits.answer}` });
  }
  return faults;
}

/** A raw step may be refused by closing, and a header that HTTP/2 does not allow by resetting the stream. */
function isBroken(step: Step, reply: Reply): boolean {
  if (step.raw !== undefined || reply.status !== undefined) return false;
  const isRefusedHead = /PROTOCOL_ERROR|ENHANCE_YOUR_CALM|closed with (1|11)$/.test(reply.broken ?? "");
  return !(isRefusedHead && (step.headers !== undefined || step.path.length > 1000 || !step.path.startsWith("/")));
}

/**
 * Errors that kube-apiserver answers with 500 too, in these words, although the client is at fault: each was requested
 * from version 1.34. Each is a plain Go error that no handler gives a status: decoding of DeleteOptions, conversion of
 * a patch to typed values, strategic merge patches, revisions, impersonation.
 */
const UPSTREAM = [
  /"message":"couldn't get version\/kind/,
  /"message":"no kind \\".*\\" is registered for version/,
  /"message":"(The order in patch list|unknown patch type: |list element types are not identical: )/,
  /"message":"(merging lists cannot yet be specified in the patch|cannot merge lists without merge key for struct)/,
  /"message":"map: map\[.*\] does not contain declared merge key: /,
  /"message":"expected (a (\[\]interface \{\}|map|string)|slice or array type, but got: )/,
  /"message":"failed to (create typed patch object|convert new object)/,
  /"message":"(resourceVersion: Invalid value: .*: )?strconv\.ParseUint: parsing /,
  /"message":"(resourceVersion should not be set on objects to be created|etcdserver: request is too large)"/,
  /"message":"Internal error occurred: requested .* without impersonating a user/,
];

/** 503 is overload, 504 a revision that does not come, 507 a quota of storage. */
const EXPECTED = new Set([501, 503, 504, 507]);

function isServersFault({ text, status = 0 }: Reply): boolean {
  return status >= 500 && !EXPECTED.has(status) && !UPSTREAM.some((pattern) => pattern.test(text));
}

/** A watch from an old revision answers with what other inputs did since. */
function isWatch({ method, path }: Step): boolean {
  return method === "GET" && /[?&]watch=/.test(path);
}

/** Documents whose size does not depend on the request. */
function isFixedDocument({ method, path }: Step): boolean {
  return (
    method === "GET" &&
    /^\/+(openapi|apis?|metrics|debug|version|healthz|livez|readyz)?(\/|\?|$)/.test(path) &&
    !/^\/(api\/v1|apis\/[^/]+\/[^/]+)\/./.test(path)
  );
}
