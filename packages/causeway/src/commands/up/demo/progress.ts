import type { DemoFollower } from "./follow.ts";
import { itemsOf, type DemoView } from "./view.ts";

/** How long a problem that does not mend itself may stand before it ends an unattended run, in milliseconds. */
const patience = 5_000;

export interface ProgressOptions {
  readonly follower: DemoFollower;
  readonly signal: AbortSignal;
  /** End with an error when something will not mend itself, instead of waiting for a person. */
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
    options.follower.until(test, options.signal, options.unattended ? patience : undefined);
  // The live display is loaded only where there is a terminal to show it.
  if (options.stream.isTTY) {
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

/** The lines that tell how a view differs from the one before: "network: ready", "machine demo-workers-x: joined". */
export function createLines(): (view: DemoView) => string[] {
  const told = new Map<string, string>();
  return (view) =>
    itemsOf(view).flatMap((item) => {
      const text = item.problem ?? item.detail;
      if (text === "waiting" || told.get(item.title) === text) return [];
      told.set(item.title, text);
      return [`${item.title}: ${text}`];
    });
}
