import { expect, test } from "vitest";
import type { Cluster } from "../contract/cluster.ts";
import { ThreadTime, type Holder } from "../contract/thread-time.ts";
import type { ControlledCluster } from "../interface.ts";
import { startOwners } from "./controllers.ts";

test("the thread time of the owner's controllers is on the account of their cluster, under its name", () => {
  let now = 0;
  const thread = new ThreadTime(() => now);
  const holders: (Holder | undefined)[] = [];
  thread.onChange = (holder) => holders.push(holder);
  let cluster: ControlledCluster | undefined;
  startOwners({ name: "tenant", thread } as unknown as Cluster, (given) => {
    cluster = given;
    return { stop: () => Promise.resolve() };
  });
  const answer = cluster?.charge("plan", () => {
    now += 70;
    return "done";
  });
  expect(answer).toBe("done");
  expect(thread.usedBy("tenant")).toBe(70);
  expect(holders).toEqual([{ cluster: "tenant", request: "plan" }, undefined]);
});
