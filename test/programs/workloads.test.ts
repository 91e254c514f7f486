/**
 * What a person does with stock kubectl on `causeway apiserver --controllers` with three simulated nodes: no other
 * program runs.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog, systemClock } from "@causeway/foundation";
import { createClient, loadKubeconfig, type KubernetesClient } from "@causeway/kubernetes";
import { simulateNode } from "@causeway/machine-agent";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { causeway, eventually, TIMEOUT, type Started } from "../support/processes.ts";
import { kubectlOn, type Kubectl } from "./kubectl/kubectl.ts";
import { programs } from "./programs.ts";

vi.setConfig({ testTimeout: TIMEOUT, hookTimeout: TIMEOUT });

const [file] = programs().kubectls;
const NODES = ["node-0", "node-1", "node-2"];
/** Less than what a run of kubectl may take. */
const WAIT = "--timeout=50s";

// Each step begins where the one before it ended.
describe.skipIf(file === undefined)("kubectl on a Kubernetes for tests", { retry: 0 }, () => {
  const dir = mkdtempSync(join(tmpdir(), "programs-workloads-"));
  const stopping = new AbortController();
  let server: Started | undefined;
  let client: KubernetesClient | undefined;
  let nodes: Promise<unknown> | undefined;
  let k: Kubectl;

  beforeAll(async () => {
    const state = join(dir, "state");
    server = causeway(["apiserver", "--controllers", "--state", state], { installed: true });
    await server.until(/Press Ctrl-C/u);
    const kubeconfig = join(state, "admin.kubeconfig");
    client = createClient(loadKubeconfig({ path: kubeconfig }));
    const options = { client, clock: systemClock, log: silentLog };
    nodes = Promise.all(
      NODES.map((name, i) => {
        const resources = { cpu: 8, memoryMiB: 16_384, diskGiB: 100 };
        const id = `00000000-0000-4000-8000-00000000000${i}`;
        return simulateNode({ id, name, userData: "", addresses: [], resources }, options, stopping.signal);
      }),
    );
    nodes.catch(() => {});
    k = kubectlOn({ dir, kubeconfig }, file ?? "", { namespace: "default", minor: 34 });
    await k.run("wait", "--for=create", "serviceaccount/default", WAIT);
    for (const name of NODES) await k.run("wait", "--for=create", `node/${name}`, WAIT);
    await k.run("wait", "--for=condition=Ready", "nodes", "--all", WAIT);
  });
  afterAll(async () => {
    stopping.abort();
    await nodes?.catch(() => {});
    await client?.close();
    await server?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const lines = async (...args: readonly string[]): Promise<string[]> =>
    (await k.run(...args)).split("\n").filter((line) => line !== "");
  const running = async (label: string): Promise<string[]> =>
    (await lines("get", "pods", "-l", label, "--no-headers")).filter((line) => /\s1\/1\s+Running\s/.test(line));

  test("create deployment: its pods run on the nodes", async () => {
    await k.run("create", "deployment", "web", "--image=web:1", "--replicas=3");
    expect(await k.run("rollout", "status", "deployment/web", WAIT)).toMatch(/successfully rolled out/);
    expect(await k.run("get", "deployment", "web")).toMatch(/web\s+3\/3\s+3\s+3/);
    expect(await running("app=web")).toHaveLength(3);
  });

  test("what is simulated says so: the node's label, the pod's event and its container's ID", async () => {
    expect(await lines("get", "nodes", "-l", "simulated.causeway.dev/node=true", "-o", "name")).toHaveLength(3);
    const events = await eventually(TIMEOUT, async () => {
      const found = await lines("get", "events", "--field-selector=reason=Simulated", "--no-headers");
      return found.length >= 3 ? found : undefined;
    });
    expect(events[0]).toMatch(/is simulated: the status of this pod is played/);
    const ids = await k.run("get", "pods", "-o", "jsonpath={.items[*].status.containerStatuses[0].containerID}");
    expect(ids).toMatch(/^(simulated:\/\/\S+ ?)+$/);
  });

  test("scales a Deployment up and down", async () => {
    await k.run("scale", "deployment", "web", "--replicas=5");
    await k.run("rollout", "status", "deployment/web", WAIT);
    expect(await running("app=web")).toHaveLength(5);
    await k.run("scale", "deployment", "web", "--current-replicas=5", "--replicas=4");
    await k.run("wait", "--for=jsonpath={.status.replicas}=4", "deployment/web", WAIT);
  });

  test("rolls out a new image, shows its history, and goes back", async () => {
    await k.run("set", "image", "deployment/web", "web=web:2");
    await k.run("rollout", "status", "deployment/web", WAIT);
    const images = ["get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[0].image}"];
    expect(await k.run(...images)).toBe("web:2");
    expect(await k.run("rollout", "history", "deployment/web")).toMatch(/\n1\s.*\n2\s/);
    await k.run("rollout", "undo", "deployment/web");
    await k.run("rollout", "status", "deployment/web", WAIT);
    expect(await k.run(...images)).toBe("web:1");
    expect(await k.run("rollout", "restart", "deployment/web")).toMatch(/restarted/);
    await k.run("rollout", "status", "deployment/web", WAIT);
  });

  test("expose: the Service leads to each pod", async () => {
    await k.run("expose", "deployment", "web", "--port=80", "--target-port=8080");
    const addresses = await eventually(TIMEOUT, async () => {
      const path = "jsonpath={.items[*].endpoints[?(@.conditions.ready==true)].addresses[0]}";
      const found = await k.run("get", "endpointslices", "-l", "kubernetes.io/service-name=web", "-o", path);
      return found.split(" ").length === 4 ? found.split(" ") : undefined;
    });
    const pods = await k.run("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].status.podIP}");
    expect(addresses.toSorted()).toEqual(pods.split(" ").toSorted());
    expect(new Set(addresses).size).toBe(4);
  });

  test("debug: a container is added to a pod, runs, and says that it is simulated", async () => {
    const [pod = ""] = await lines("get", "pods", "-l", "app=web", "-o", "name");
    await k.run("debug", pod, "--image=busybox:1", "--container=debugger", "--profile=general");
    await k.run("wait", "--for=jsonpath={.status.ephemeralContainerStatuses[0].state.running}", pod, WAIT);
    const refused = k.run("attach", pod, "--container=debugger");
    await expect(refused).rejects.toThrow(/is simulated: container debugger of pod .* runs no program/);
  });

  test("create job and cronjob: the pods end, and the Jobs complete", async () => {
    await k.run("create", "job", "once", "--image=work:1");
    await k.run("wait", "--for=condition=Complete", "job/once", WAIT);
    await k.run("create", "cronjob", "nightly", "--image=work:1", "--schedule=0 3 * * *");
    await k.run("create", "job", "now", "--from=cronjob/nightly");
    await k.run("wait", "--for=condition=Complete", "job/now", WAIT);
  });

  test("drain: a budget holds it up until pods run elsewhere", async () => {
    await k.run("create", "poddisruptionbudget", "web", "--selector=app=web", "--min-available=3");
    const out = await k.run("drain", "node-0", "--ignore-daemonsets", "--delete-emptydir-data", "--force", WAIT);
    expect(out).toMatch(/node\/node-0 drained/);
    await k.run("rollout", "status", "deployment/web", WAIT);
    const on = await k.run("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.nodeName}");
    expect(on.split(" ")).toHaveLength(4);
    expect(on).not.toContain("node-0");
    await k.run("uncordon", "node-0");
    await k.run("patch", "poddisruptionbudget", "web", "-p", '{"spec":{"minAvailable":4}}');
    const [pod = ""] = await lines(
      "get",
      "pods",
      "-l",
      "app=web",
      "--field-selector=spec.nodeName=node-1",
      "-o",
      "name",
    );
    await k.run("wait", "--for=jsonpath={.status.disruptionsAllowed}=0", "poddisruptionbudget/web", WAIT);
    expect(await k.fails("drain", "node-1", "--ignore-daemonsets", "--force", "--timeout=3s")).toMatch(
      /Cannot evict pod as it would violate the pod's disruption budget/,
    );
    expect(await k.run("get", pod)).toMatch(/Running/);
    await k.run("uncordon", "node-1");
  });

  test("logs, exec, attach and port-forward report that the node is simulated, or print what an annotation says", async () => {
    const [pod = ""] = await lines("get", "pods", "-l", "app=web", "-o", "name");
    const calls = [["logs"], ["exec"], ["attach"], ["port-forward"]].map(([verb = ""]) => {
      const more: Readonly<Record<string, readonly string[]>> = { exec: ["--", "true"], "port-forward": ["0:80"] };
      return [verb, pod, ...(more[verb] ?? [])];
    });
    for (const call of calls) expect(await k.fails(...call), call[0] ?? "").toMatch(/simulated/);
    await k.run("annotate", pod, "simulated.causeway.dev/logs=hello from nowhere");
    expect(await k.run("logs", pod)).toMatch(/^hello from nowhere$/m);
  });

  test("top and autoscale use what annotations declare", async () => {
    expect(await k.fails("top", "pods", "-l", "app=web")).toMatch(/simulated/);
    const template = {
      metadata: { annotations: { "simulated.causeway.dev/cpu": "150m", "simulated.causeway.dev/memory": "64Mi" } },
      spec: { containers: [{ name: "web", resources: { requests: { cpu: "100m" } } }] },
    };
    await k.run("patch", "deployment", "web", "-p", JSON.stringify({ spec: { template } }));
    await k.run("rollout", "status", "deployment/web", WAIT);
    const top = await eventually(TIMEOUT, async () => {
      const found = await k.run("top", "pods", "-l", "app=web", "--no-headers").catch(() => "");
      return /150m\s+64Mi/.test(found) ? found : undefined;
    });
    expect(top).toMatch(/150m\s+64Mi/);
    await k.run("autoscale", "deployment", "web", "--cpu=50%", "--min=2", "--max=8");
    await k.run("wait", "--for=jsonpath={.spec.replicas}=8", "deployment/web", WAIT);
    await k.run("delete", "hpa", "web");
  });

  test("annotations make a pod fail, hang and finish", async () => {
    const pod = async (name: string, says: Readonly<Record<string, string>>): Promise<void> => {
      const annotations = Object.entries(says).map(
        ([key, value]) => `--annotations=simulated.causeway.dev/${key}=${value}`,
      );
      await k.run("run", name, "--image=x:1", "--restart=Never", ...annotations);
    };
    await pod("hanging", { outcome: "hang" });
    await pod("unpullable", { outcome: "image-pull-error" });
    await pod("failing", { "finish-after": "1s", "exit-code": "3" });
    await pod("finishing", { "finish-after": "1s" });
    await k.run("wait", "--for=jsonpath={.status.phase}=Failed", "pod/failing", WAIT);
    await k.run("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/finishing", WAIT);
    const table = await k.run("get", "pods");
    expect(table).toMatch(/hanging\s+0\/1\s+ContainerCreating/);
    expect(table).toMatch(/unpullable\s+0\/1\s+(ErrImagePull|ImagePullBackOff)/);
    expect(table).toMatch(/failing\s+0\/1\s+Error/);
    expect(table).toMatch(/finishing\s+0\/1\s+Completed/);
  });

  test("deleting all of it leaves no pod", async () => {
    await k.run("delete", "deployment,service,poddisruptionbudget,cronjob,job", "--all", WAIT);
    await k.run("delete", "pods", "--all", WAIT);
    expect(await lines("get", "pods", "-o", "name")).toEqual([]);
  });
});
