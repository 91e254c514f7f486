import { styleText } from "node:util";
import { Listr, type ListrTask } from "listr2";
import type { ProgressOptions } from "./progress.ts";
import type { DemoView, Item } from "./view.ts";

type Until = (test: (view: DemoView) => boolean) => Promise<void>;

/** The live display: a line for each part of the demo and for each machine, with what it is doing. */
export async function showLive(options: ProgressOptions, until: Until): Promise<void> {
  const part = (title: string, pick: (view: DemoView) => Item): ListrTask => ({
    title,
    task: (_, task) => followItem({ ...options, title }, { pick, until, task }),
  });
  const machines: ListrTask = {
    title: "Machines",
    task: async (_, task) => {
      if (!(await reached(options, () => until((view) => view.wanted > 0 && view.machines.length >= view.wanted))))
        return task.skip();
      const { machines: made } = options.follower.view;
      const parts = made.map((machine) => part(nameOf(machine), (view) => sameMachine(view, machine)));
      return task.newListr(parts, { concurrent: true, rendererOptions: { collapseSubtasks: false } });
    },
  };
  const list = new Listr(
    [
      part("Network", (view) => view.network),
      part("Router", (view) => view.router),
      part("Security groups", (view) => view.securityGroups),
      part("API endpoint", (view) => view.endpoint),
      machines,
      part("Load balancer", (view) => view.loadBalancer),
      part("Application", (view) => view.application),
      part("Add-on", (view) => view.addon),
    ],
    {
      concurrent: true,
      renderer: "default",
      rendererOptions: { collapseSkips: false, showSkipMessage: false, collapseErrors: false },
      registerSignalListeners: false,
    },
  );
  await list.run();
  await until((view) => view.ready);
}

function nameOf(machine: Item): string {
  return machine.title.replace(/^machine /, "");
}

/** A machine that was replaced meanwhile has nothing more to wait for. */
function sameMachine(view: DemoView, machine: Item): Item {
  return view.machines.find((m) => m.title === machine.title) ?? { ...machine, done: true, detail: "replaced" };
}

interface FollowGoal {
  readonly pick: (view: DemoView) => Item;
  readonly until: Until;
  readonly task: { title: string; skip(): void };
}

async function followItem(options: ProgressOptions & { title: string }, following: FollowGoal): Promise<void> {
  const { follower, stream, title } = options;
  const { pick, until, task } = following;
  const show = (view: DemoView) => {
    const { problem, detail } = pick(view);
    const text = problem === undefined ? styleText("dim", detail, { stream }) : styleText("red", problem, { stream });
    const line = `${title.padEnd(16)} ${text}`;
    if (task.title !== line) task.title = line;
  };
  const stop = follower.onChange(show);
  try {
    show(follower.view);
    if (await reached(options, () => until((view) => pick(view).done))) show(follower.view);
    else task.skip();
  } finally {
    stop();
  }
}

/** False when the person stopped it: that is no failure to show. */
async function reached({ signal }: ProgressOptions, wait: () => Promise<void>): Promise<boolean> {
  try {
    await wait();
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
