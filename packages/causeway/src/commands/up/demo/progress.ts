import type { DemoFollower } from "./follow.ts";
import { itemsOf, type DemoView } from "./view.ts";

/** Milliseconds after which a problem that only a user can fix ends an unattended run. */
const problemTimeout = 5_000;

/** What is shown, where, and until when. */
export interface ProgressOptions {
  readonly follower: DemoFollower;
  readonly signal: AbortSignal;
  /** End with an error on a problem that only a user can fix, instead of waiting. */
  readonly unattended: boolean;
  /** Where to show it: standard output, or standard error where that is for the result alone. */
  readonly stream: NodeJS.WriteStream;
}

/**
 * Shows the demo coming up until it is ready: live on a terminal, a line for each change elsewhere.
 * @throws DEMO_FAILED; the signal's reason when it aborts, with nothing said.
 */
export async function showProgress(options: ProgressOptions): Promise<void> {
  const until = (test: (view: DemoView) => boolean) =>
    options.follower.until(test, options.signal, options.unattended ? problemTimeout : undefined);
  // The live display is loaded only where there is a terminal to show it. Some have no size: each word would be a line.
  if (options.stream.isTTY && options.stream.columns > 0 && process.env["TERM"] !== "dumb") {
    const { showLive } = await import("./live.ts");
    await showLive(options, until);
  } else {
    await showLines(options, () => until((view) => view.ready));
  }
}

/** One plain line for each change that means something. */
async function showLines({ follower, stream }: ProgressOptions, ready: () => Promise<void>): Promise<void> {
  const lines = createLines();
  const show = (view: DemoView) => {
    for (const line of lines(view)) stream.write(`${line}\n`);
  };
  const stop = follower.onChange(show);
  try {
    show(follower.view);
    await ready();
    show(follower.view);
  } finally {
    stop();
  }
}

/**
 * The lines that say how a view differs from the one before: "network: ready", "machine demo-workers-x: joined",
 * "machine demo-workers-x: deleted".
 */
export function createLines(): (view: DemoView) => string[] {
  const shown = new Map<string, string>();
  return (view) => {
    const items = itemsOf(view);
    const gone = [...shown.keys()].filter(
      (title) => title.startsWith("machine ") && items.every((i) => i.title !== title),
    );
    for (const title of gone) shown.delete(title);
    const changed = items.flatMap((item) => {
      const text = item.problem ?? item.detail;
      if (text === "waiting" || shown.get(item.title) === text) return [];
      shown.set(item.title, text);
      return [`${item.title}: ${text}`];
    });
    return [...gone.map((title) => `${title}: deleted`), ...changed];
  };
}

/**
 * Shows each change of the demo after it was ready, until it is deleted; resolves then. Rejects with the signal's
 * reason.
 */
export async function showChanges({ follower, stream, signal }: Omit<ProgressOptions, "unattended">): Promise<void> {
  const lines = createLines();
  lines(follower.view);
  const stop = follower.onChange((view) => {
    if (view.exists) for (const line of lines(view)) stream.write(`${line}\n`);
  });
  try {
    await follower.until((view) => !view.exists, signal);
  } finally {
    stop();
  }
  stream.write("demo: deleted, with every OpenStack resource that was made for it\n");
}
