/** One probe of a control plane that is well, says what is wrong, does not respond, or cannot be reached. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { renderKubeconfig } from "@causeway/kubernetes";
import { afterEach, expect, it } from "vitest";
import { probeCluster } from "./probe.ts";

const closing: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

type Response = readonly [status: number, text: string] | "none";

/** A kubeconfig of a server that has a response by path. */
async function serve(responses: Readonly<Record<string, Response>>): Promise<string> {
  const server = createServer((request, response) => {
    const found = responses[request.url ?? ""] ?? [404, "not found"];
    if (found === "none") return;
    response.writeHead(found[0], { "content-type": "text/plain" });
    response.end(found[1]);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return kubeconfigOf((server.address() as AddressInfo).port);
}

const kubeconfigOf = (port: number): string =>
  renderKubeconfig({ server: `http://127.0.0.1:${port}`, token: "t", clusterName: "c", userName: "u" });

const signal = new AbortController().signal;
const kubelet = "/api/v1/nodes/n0/proxy/healthz";
/** Longer than a busy machine takes; only a server that never responds is waited for. */
const LONG = 60_000;
const probe = async (responses: Readonly<Record<string, Response>>, timeout = LONG) =>
  probeCluster({ kubeconfig: await serve(responses), node: "n0", timeout }, signal);

it("the health of a cluster is ok of an API and a kubelet that say so", async () => {
  const well = { "/healthz": [200, "ok"], [kubelet]: [200, "ok"] } as const;
  expect(await probe(well)).toEqual({ api: "ok", kubelet: { node: "n0", state: "ok" } });
  expect(await probeCluster({ kubeconfig: await serve(well), node: undefined, timeout: LONG }, signal)).toEqual({
    api: "ok",
  });
});

it("the health of a cluster says what the API says of itself, and asks for no kubelet then", async () => {
  const { api, ...rest } = await probe({
    "/healthz": [500, "[-]etcd failed: reason withheld"],
    [kubelet]: [200, "ok"],
  });
  expect(api).toMatch(/etcd failed|HTTP 500/);
  expect(rest).toEqual({});
});

it("the health of a cluster says why a kubelet is not reached", async () => {
  const found = await probe({ "/healthz": [200, "ok"], [kubelet]: [502, "dial tcp: no route to host"] });
  expect(found.api).toBe("ok");
  expect(found.kubelet?.state).toMatch(/no route|HTTP 502/);
});

it("the health of a cluster waits for a response as long as it may", async () => {
  expect(await probe({ "/healthz": "none" }, 300)).toEqual({ api: "no response in 0.3 s" });
});

it("the health of a cluster reads no more of a kubelet that says much than is shown", async () => {
  const much = `[${"{},".repeat(1_000_000)}{}]`;
  const found = await probe({ "/healthz": [200, "ok"], [kubelet]: [200, much] });
  expect(found.kubelet?.state).toMatch(/bytes|large/);
  expect(found.kubelet?.state.length).toBeLessThanOrEqual(200);
});

it("the health of a cluster says that nothing listens, and that a kubeconfig is none", async () => {
  const nothing = await probeCluster({ kubeconfig: kubeconfigOf(1), node: undefined, timeout: LONG }, signal);
  expect(nothing.api).toMatch(/cannot be reached/);
  expect((await probeCluster({ kubeconfig: "{}", node: undefined, timeout: LONG }, signal)).api).not.toBe("ok");
});
