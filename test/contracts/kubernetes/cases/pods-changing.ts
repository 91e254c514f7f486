import { expect } from "vitest";
import type { CaseGroup, Context, ContractCase, Json } from "../interface.ts";
import { at, done, invalid, made } from "./shorthands.ts";

const DEBUGGER = { name: "debugger", image: "tools", targetContainerName: "c" };

async function pod(c: Context, spec: Json = {}): Promise<void> {
  await c.api.post(c.core("serviceaccounts"), {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "default" },
  });
  const body = { containers: [{ name: "c", image: "i" }], automountServiceAccountToken: false, ...spec };
  await made(c.api.post(c.core("pods"), { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: body }));
}

const sized = (cpu: string): Json => ({ requests: { cpu }, limits: { cpu: "2" } });

const cases: ContractCase[] = [
  {
    name: "a container is added to debug a pod, and remains as it is",
    async run(c) {
      await pod(c);
      const path = `${c.core("pods", "p")}/ephemeralcontainers`;
      const body = await done(c.api.patch(path, "strategic", { spec: { ephemeralContainers: [DEBUGGER] } }));
      expect(at(body, "spec", "ephemeralContainers", 0)).toMatchObject({ ...DEBUGGER, imagePullPolicy: "Always" });
      expect(at(await done(c.api.get(path)), "kind")).toBe("Pod");
      invalid(
        await c.api.patch(path, "merge", { spec: { ephemeralContainers: [] } }),
        'spec.ephemeralContainers: Forbidden: existing ephemeral containers "debugger" may not be removed\n',
      );
    },
  },
  {
    name: "an invalid ephemeral container is rejected with its causes",
    async run(c) {
      await pod(c);
      const path = `${c.core("pods", "p")}/ephemeralcontainers`;
      const add = (more: Json) =>
        c.api.patch(path, "strategic", { spec: { ephemeralContainers: [{ ...DEBUGGER, ...more }] } });
      invalid(await add({ name: "c" }), 'spec.ephemeralContainers[0].name: Duplicate value: "c"');
      invalid(
        await add({ targetContainerName: "x" }),
        'spec.ephemeralContainers[0].targetContainerName: Not found: "x"',
      );
      invalid(
        await add({ ports: [{ containerPort: 80 }] }),
        "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container",
      );
      invalid(
        await add({ readinessProbe: { tcpSocket: { port: 80 } } }),
        "spec.ephemeralContainers[0].readinessProbe: Forbidden: cannot be set for an Ephemeral Container",
      );
    },
  },
  {
    name: "nothing else of a pod is changed with its added containers",
    async run(c) {
      await pod(c);
      const path = `${c.core("pods", "p")}/ephemeralcontainers`;
      const body = await done(
        c.api.patch(path, "strategic", {
          metadata: { labels: { a: "b" } },
          spec: { ephemeralContainers: [DEBUGGER], nodeName: "n" },
        }),
      );
      expect(at(body, "spec", "nodeName")).toBeUndefined();
      expect(at(body, "spec", "ephemeralContainers")).toHaveLength(1);
    },
  },
  {
    name: "resources of a pod's containers are changed by resize alone",
    async run(c) {
      await pod(c, { containers: [{ name: "c", image: "i", resources: sized("1") }] });
      const change = { spec: { containers: [{ name: "c", resources: { requests: { cpu: "1500m" } } }] } };
      expect((await c.api.patch(c.core("pods", "p"), "strategic", change)).code).toBe(422);
      const body = await done(c.api.patch(`${c.core("pods", "p")}/resize`, "strategic", change));
      expect(at(body, "spec", "containers", 0, "resources")).toEqual(sized("1500m"));
      expect(at(body, "metadata", "generation")).toBe(2);
    },
  },
  {
    name: "a resize rejects another QoS class, removed resources, other containers and requests above limits",
    async run(c) {
      await pod(c, { containers: [{ name: "c", image: "i", resources: sized("1") }] });
      const resize = (type: "merge" | "strategic", containers: Json[]) =>
        c.api.patch(`${c.core("pods", "p")}/resize`, type, { spec: { containers } });
      invalid(
        await resize("strategic", [{ name: "c", resources: { requests: { cpu: "3" } } }]),
        'spec.containers[0].resources.requests: Invalid value: "3": must be less than or equal to cpu limit of 2',
      );
      invalid(
        await resize("merge", [{ name: "c", image: "i", resources: { requests: { cpu: "1" } } }]),
        "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed",
      );
      invalid(
        await resize("merge", [{ name: "d", image: "i", resources: sized("1") }]),
        "spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize",
      );
      invalid(
        await resize("strategic", [{ name: "d", image: "i" }]),
        "spec.containers: Forbidden: containers may not be added or removed on resize",
      );
      invalid(
        await resize("merge", [{ name: "c", image: "i" }]),
        'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
        "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed",
        "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed",
      );
    },
  },
];

export const podsChanging: CaseGroup = { title: "ephemeral containers and resizes of pods", cases };
