import { readFileSync } from "node:fs";
import { expect } from "vitest";
import type { KubectlCase, Kubectl } from "./kubectl.ts";
import { deployment, pod } from "./objects.ts";

const stdin = ["-f", "-"] as const;
type Json = Record<string, unknown>;

/** Makes the ReplicaSet of a Deployment's template, as its controller would. */
async function revision(k: Kubectl, name: string, number: number): Promise<void> {
  const whole = JSON.parse(await k.run("get", "deploy", name, "-o", "json")) as {
    metadata: Json;
    spec: { template: { metadata: Json; spec: Json } };
  };
  const { metadata, spec } = whole;
  const labels = { ...(spec.template.metadata["labels"] as Json), "pod-template-hash": `h${number}` };
  const owner = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    name,
    uid: metadata["uid"],
    controller: true,
    blockOwnerDeletion: true,
  };
  const set = {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `${name}-h${number}`,
      labels,
      annotations: { "deployment.kubernetes.io/revision": String(number) },
      ownerReferences: [owner],
    },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  };
  await k.feed(set, "create", ...stdin);
  await k.run("annotate", "deploy", name, "--overwrite", `deployment.kubernetes.io/revision=${number}`);
}

export const rolling: readonly KubectlCase[] = [
  {
    name: "rollout: history and undo, by the ReplicaSets of a Deployment",
    run: async (k) => {
      await k.feed(deployment("web"), "create", ...stdin);
      await revision(k, "web", 1);
      await k.run("set", "image", "deploy/web", "main=main:2");
      await revision(k, "web", 2);
      const history = await k.run("rollout", "history", "deploy/web");
      expect(history).toMatch(/^1 +<none>$/m);
      expect(history).toMatch(/^2 +<none>$/m);
      expect(await k.run("rollout", "history", "deploy/web", "--revision=1")).toMatch(/Image:\s+main:1/);
      expect(await k.run("rollout", "undo", "deploy/web")).toBe("deployment.apps/web rolled back\n");
      const image = ["get", "deploy", "web", "-o", "jsonpath={.spec.template.spec.containers[0].image}"] as const;
      expect(await k.run(...image)).toBe("main:1");
      expect(await k.run("rollout", "undo", "deploy/web", "--to-revision=2")).toBe("deployment.apps/web rolled back\n");
      expect(await k.run(...image)).toBe("main:2");
      expect(await k.fails("rollout", "undo", "deploy/web", "--to-revision=9")).toContain(
        "unable to find specified revision 9",
      );
    },
  },
  {
    name: "events: those of one object, and as they come",
    run: async (k) => {
      const event = (name: string, message: string): Json => ({
        apiVersion: "v1",
        kind: "Event",
        metadata: { name },
        involvedObject: { apiVersion: "v1", kind: "Pod", name: "p", namespace: k.namespace },
        reason: "Tried",
        message,
        type: "Normal",
        lastTimestamp: new Date().toISOString().replace(/\.\d+/, ""),
      });
      await k.feed(pod("p"), "create", ...stdin);
      await k.feed(event("p.1", "first"), "create", ...stdin);
      expect(await k.run("events", "--for=pod/p")).toMatch(/Normal +Tried +Pod\/p +first/);
      expect(await k.run("events", "--types=Warning")).toBe("");
      const watching = k.start("events", "--for=pod/p", "--watch");
      await watching.until(/first/);
      await k.feed(event("p.2", "second"), "create", ...stdin);
      await watching.until(/second/);
      await watching.stop();
    },
  },
  {
    name: "debug: a container is added to debug a pod",
    since: 34,
    run: async (k) => {
      await k.feed(pod("p"), "create", ...stdin);
      await k.run(
        "debug",
        "p",
        "--image=tools",
        "--container=debugger",
        "--target=main",
        "--attach=false",
        "--profile=general",
      );
      const added = [
        "get",
        "pod",
        "p",
        "-o",
        "jsonpath={.spec.ephemeralContainers[0]['name','image','targetContainerName']}",
      ] as const;
      expect(await k.run(...added)).toBe("debugger tools main");
      expect(await k.run("debug", "p", "--image=tools", "--copy-to=copy", "--attach=false", "--container=main")).toBe(
        "",
      );
      expect(await k.run("get", "pod", "copy", "-o", "jsonpath={.spec.containers[0].image}")).toBe("tools");
    },
  },
  {
    name: "drain: by evictions, that a disruption budget holds up",
    run: async (k) => {
      const node = `node-${k.namespace}`;
      await k.feed({ apiVersion: "v1", kind: "Node", metadata: { name: node } }, "create", ...stdin);
      const own = (name: string): Json => ({
        ...pod(name),
        spec: { containers: [{ name: "main", image: "main:1" }], nodeName: node, terminationGracePeriodSeconds: 0 },
      });
      await k.feed(own("guarded"), "create", ...stdin);
      await k.run(
        "patch",
        "pod",
        "guarded",
        "--subresource=status",
        "--type=merge",
        "-p",
        '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}',
      );
      const budget = {
        apiVersion: "policy/v1",
        kind: "PodDisruptionBudget",
        metadata: { name: "b" },
        spec: { minAvailable: 1, selector: { matchLabels: { app: "guarded" } } },
      };
      await k.feed(budget, "create", ...stdin);
      const counts = (allowed: number): string =>
        JSON.stringify({
          status: {
            observedGeneration: 1,
            disruptionsAllowed: allowed,
            currentHealthy: 1,
            desiredHealthy: 1,
            expectedPods: 1,
          },
        });
      const allow = (allowed: number): Promise<string> =>
        k.run("patch", "pdb", "b", "--subresource=status", "--type=merge", "-p", counts(allowed));
      await allow(0);
      const drain = ["drain", node, "--force", "--ignore-daemonsets", `--pod-selector=app=guarded`] as const;
      const held = await k.fails(...drain, "--timeout=3s");
      expect(held).toContain("Cannot evict pod as it would violate the pod's disruption budget.");
      expect(await k.run("get", "node", node, "-o", "jsonpath={.spec.unschedulable}")).toBe("true");
      await allow(1);
      expect(await k.run(...drain, "--timeout=30s")).toContain("pod/guarded evicted");
      expect(await k.run("uncordon", node)).toBe(`node/${node} uncordoned\n`);
      await k.run("delete", "node", node);
    },
  },
  {
    name: "cluster-info dump: everything of a namespace, as files",
    run: async (k) => {
      await k.feed(deployment("web"), "create", ...stdin);
      const folder = `${k.dir}/dump`;
      const said = await k.run("cluster-info", "dump", `--output-directory=${folder}`, `--namespaces=${k.namespace}`);
      expect(said).toContain(`Cluster info dumped to ${folder}`);
      const dumped = JSON.parse(readFileSync(`${folder}/${k.namespace}/deployments.json`, "utf8")) as {
        items: { metadata: Json }[];
      };
      expect(dumped.items.map((item) => item.metadata["name"])).toEqual(["web"]);
    },
  },
];
