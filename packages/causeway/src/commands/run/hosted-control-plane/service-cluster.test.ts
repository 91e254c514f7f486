import { silentLog } from "@causeway/foundation";
import { IdleClock } from "@causeway/foundation/testing";
import type { KubernetesClient, Secret } from "@causeway/kubernetes";
import { expect, test } from "vitest";
import { followServiceCluster } from "./service-cluster.ts";

const kubeconfig = (server: string) =>
  `{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: "${server}"}}], users: [{name: c, user: {token: t}}], contexts: [{name: c, context: {cluster: c, user: c}}]}`;

test("the controllers start again with a changed kubeconfig of the service cluster, and continue with the last good one without it", async () => {
  // What the Secret holds at each read.
  const contents = [
    kubeconfig("https://a"),
    kubeconfig("https://a"),
    undefined,
    "no: [kubeconfig",
    kubeconfig("https://b"),
  ];
  let last = contents[0];
  const find = (): Promise<Secret | undefined> => {
    if (contents.length > 0) last = contents.shift();
    const data = last === undefined ? undefined : { value: Buffer.from(last).toString("base64") };
    return Promise.resolve({ apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, ...(data ? { data } : {}) });
  };
  const client = { find } as unknown as KubernetesClient;
  const stop = new AbortController();
  const worked: string[] = [];
  const work = (text: string, signal: AbortSignal): Promise<void> => {
    worked.push(text);
    if (worked.length === 2) stop.abort();
    return new Promise((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve());
    });
  };
  await followServiceCluster("ns/s", { client, clock: new IdleClock(), log: silentLog }, stop.signal, work);
  expect(worked).toEqual([kubeconfig("https://a"), kubeconfig("https://b")]);
  expect(contents).toEqual([]);
});

test("a service cluster whose Secret does not exist is refused, with the command that creates it", async () => {
  const client = { find: () => Promise.resolve(undefined) } as unknown as KubernetesClient;
  const using = { client, clock: new IdleClock(), log: silentLog };
  const following = followServiceCluster("ns/s", using, new AbortController().signal, () => Promise.resolve());
  await expect(following).rejects.toMatchObject({
    code: "SERVICE_CLUSTER_UNKNOWN",
    hint: expect.stringContaining("kubectl -n ns create secret"),
  });
});
