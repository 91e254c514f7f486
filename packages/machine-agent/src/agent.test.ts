import { VirtualClock } from "@causeway/foundation";
import { describe, expect, test } from "vitest";
import { runMachineAgent } from "./agent.ts";
import type { BootedMachine } from "./interface.ts";

const joining = `#cloud-config
write_files:
- path: /join.yaml
  content: |
    kind: JoinConfiguration
    discovery: {bootstrapToken: {apiServerEndpoint: "10.0.0.1:6443", token: abcdef.0123456789abcdef, caCertHashes: [x]}}
runcmd: [kubeadm join --config /join.yaml]
`;
const machine = (id: string, changes: Partial<BootedMachine> = {}): BootedMachine => ({
  id,
  name: id,
  userData: joining,
  addresses: [],
  resources: { cpu: 1, memoryMiB: 512, diskGiB: 1 },
  ...changes,
});

async function settle(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** An agent in virtual time, with a cloud that a test changes and a record of what happened. */
function play(
  machines: BootedMachine[],
  setup: { disks?: string[]; crash?: boolean; hasImage?: (machine: BootedMachine) => boolean } = {},
) {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const happened: string[] = [];
  const cloud: { machines: BootedMachine[] | Error } = { machines };
  const running = runMachineAgent(
    {
      source: {
        machines: async () => {
          if (cloud.machines instanceof Error) throw cloud.machines;
          return cloud.machines;
        },
      },
      launch: async (m, signal) => {
        happened.push(`launch ${m.id}`);
        if (setup.crash) throw new Error("crashed");
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        happened.push(`end ${m.id}`);
      },
      disks: {
        ids: async () => setup.disks ?? [],
        remove: async (id) => void happened.push(`remove ${id}`),
      },
      clock,
      ...(setup.hasImage ? { hasImage: setup.hasImage } : {}),
    },
    stop.signal,
  );
  return {
    cloud,
    happened,
    /** Lets the agent run `times` more rounds; what happened since the last time. */
    async poll(times = 1): Promise<string[]> {
      for (let i = 0; i < times; i++) {
        await settle();
        await clock.advance(1000);
      }
      await settle();
      return happened.splice(0);
    },
    async stop(): Promise<string[]> {
      stop.abort(new Error("stopped"));
      await running;
      return happened.splice(0);
    },
  };
}

describe("the agent", () => {
  test("launches what appears, once; stops what goes, and then removes its disk", async () => {
    const agent = play([machine("a"), machine("b")]);
    expect(await agent.poll(3)).toEqual(["launch a", "launch b"]);
    agent.cloud.machines = [machine("b")];
    expect(await agent.poll(2)).toEqual(["end a", "remove a"]);
    expect(await agent.stop()).toEqual(["end b"]);
  });

  test("a machine that is switched off is stopped and keeps its disk", async () => {
    const agent = play([machine("a")]);
    await agent.poll();
    agent.cloud.machines = [machine("a", { running: false })];
    expect(await agent.poll(2)).toEqual(["end a"]);
    agent.cloud.machines = [machine("a")];
    expect(await agent.poll(2)).toEqual(["launch a"]);
    await agent.stop();
  });

  test("a list that is the same as the last is not read again, and a machine that ends is launched from it", async () => {
    const list = [machine("a"), machine("b")];
    let reads = 0;
    Object.defineProperty(list, Symbol.iterator, {
      value: () => {
        reads++;
        return Array.prototype.values.call(list) as ArrayIterator<BootedMachine>;
      },
    });
    const agent = play(list);
    expect(await agent.poll(100)).toEqual(["launch a", "launch b"]);
    expect(reads).toBe(1);
    const off = [machine("a", { running: false }), machine("b")];
    agent.cloud.machines = off;
    await agent.poll();
    agent.cloud.machines = list;
    expect(await agent.poll(3)).toContain("launch a");
    await agent.stop();
  });

  test("a machine whose image has the programs is launched whatever its user data does, if that can be read", async () => {
    const userData = "#cloud-config\nruncmd: [kubeadm init --config /init.yaml]\n";
    const agent = play([machine("whole", { userData, image: "i" }), machine("other", { userData }), machine("joins")], {
      hasImage: ({ image }) => image === "i",
    });
    expect(await agent.poll(2)).toEqual(["launch whole", "launch joins"]);
    agent.cloud.machines = [machine("unread", { userData: "#!/bin/sh", image: "i" })];
    expect(await agent.poll(2)).toEqual(["end whole", "end joins", "remove whole", "remove other", "remove joins"]);
    await agent.stop();
  });

  test("a source that does not answer changes nothing", async () => {
    const agent = play([machine("a")]);
    await agent.poll();
    agent.cloud.machines = new Error("away");
    expect(await agent.poll(5)).toEqual([]);
    agent.cloud.machines = [machine("a"), machine("b")];
    expect(await agent.poll(2)).toEqual(["launch b"]);
    await agent.stop();
  });

  test.each([
    ["without user data", ""],
    ["with a script", "#!/bin/sh\n"],
    ["with a cloud-config that joins nothing", "#cloud-config\nruncmd: [echo]\n"],
  ])("a server %s is not a machine of ours: nothing is launched", async (_, userData) => {
    const agent = play([machine("other", { userData })]);
    expect(await agent.poll(5)).toEqual([]);
    agent.cloud.machines = [];
    await agent.poll();
    expect(await agent.stop()).toEqual([]);
  });

  test("a machine that ends by itself is launched again, with growing pauses", async () => {
    const agent = play([machine("a")], { crash: true });
    expect(await agent.poll(63)).toHaveLength(7);
    await agent.stop();
  });

  test("disks of machines that were deleted while the agent was down are removed at the start", async () => {
    const agent = play([machine("a")], { disks: ["a", "old"] });
    expect(await agent.poll(3)).toEqual(["launch a", "remove old"]);
    await agent.stop();
  });
});
