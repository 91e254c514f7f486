import { Listr, type ListrTask } from "listr2";
import type { DemoFollower } from "./follow.ts";
import type { DemoView, Item } from "./view.ts";

/** How long a problem that does not mend itself may stand before it ends an unattended run, in milliseconds. */
const patience = 5_000;

export interface ProgressOptions {
  readonly follower: DemoFollower;
  readonly signal: AbortSignal;
  /** End with an error when something will not mend itself, instead of waiting for a person. */
  readonly unattended: boolean;
}

/** Shows the demo coming up until it is ready: live on a terminal, a line for each change elsewhere. */
export async function showProgress(options: ProgressOptions): Promise<void> {
  const part = (title: string, pick: (view: DemoView) => Item): ListrTask => ({
    title,
    task: (_, task) => followItem(options, pick, { title, task }),
  });
  const list = new Listr(
    [
      part("Network", (view) => view.network),
      part("Router", (view) => view.router),
      part("Security groups", (view) => view.securityGroups),
      part("API endpoint", (view) => view.endpoint),
      part("Machines", machinesItem),
      part("Load balancer", (view) => view.loadBalancer),
    ],
    {
      concurrent: true,
      renderer: process.stdout.isTTY ? "default" : "verbose",
      rendererOptions: {},
      registerSignalListeners: false,
    },
  );
  await list.run();
  await options.follower.until((view) => view.ready, options.signal, options.unattended ? patience : undefined);
}

interface Shown {
  title: string;
  output: string;
}

async function followItem(
  options: ProgressOptions,
  pick: (view: DemoView) => Item,
  shown: { title: string; task: Shown },
): Promise<void> {
  const { follower, signal } = options;
  let last = "";
  const show = (view: DemoView) => {
    const item = pick(view);
    const text = item.problem ?? item.detail;
    if (text !== last) shown.task.output = text;
    last = text;
  };
  const stop = follower.onChange(show);
  try {
    show(follower.view);
    await follower.until((view) => pick(view).done, signal, options.unattended ? patience : undefined);
    shown.task.title = `${shown.title}: ${pick(follower.view).detail}`;
  } finally {
    stop();
  }
}

/** All machines as one item: each with its stage, done when as many as wanted are. */
function machinesItem(view: DemoView): Item {
  const done = view.machines.filter((m) => m.done).length;
  const problem = view.machines.find((m) => m.problem !== undefined);
  const all = view.wanted > 0 && done >= view.wanted && view.machines.length === view.wanted;
  const stages = view.machines.map((m) => `${m.title}: ${m.detail}`).join("; ");
  return {
    title: "Machines",
    done: all,
    detail: all ? `${done} nodes Ready` : `${done} of ${view.wanted} ready${stages === "" ? "" : ` (${stages})`}`,
    ...(problem?.problem === undefined ? {} : { problem: `${problem.title}: ${problem.problem}` }),
  };
}
