import type { Json } from "../interface.ts";
import type { Choices } from "./choices.ts";

/** The spec of a pod; one in a template has no node. */
export function podSpec(c: Choices, template: boolean, restart?: string): Json {
  const mounts = c.chance(12) ? [{ name: "v0", mountPath: "/m" }] : [];
  const volumes = mounts.length > 0 && !c.chance(10) ? { volumes: c.several(1, 2, (i) => volume(c, i)) } : {};
  return {
    containers: c.several(1, 2, (i) => ({
      ...container(c, i),
      ...(mounts.length > 0 ? { volumeMounts: mounts } : {}),
    })),
    ...volumes,
    ...(restart === undefined ? {} : { restartPolicy: restart }),
    ...c.fields(12, {
      ...(restart === undefined && !template ? { restartPolicy: () => c.pick(["Never", "OnFailure", "Always"]) } : {}),
      ...(template ? {} : { nodeName: () => "n" }),
      initContainers: () => [{ name: "first", image: "i" }],
      nodeSelector: () => ({ disk: c.pick(["ssd", "hdd"]) }),
      terminationGracePeriodSeconds: () => c.pick([30, 0, 5]),
      tolerations: () => [{ key: "k", operator: "Exists" }],
      hostNetwork: () => c.chance(50),
      securityContext: () => ({ runAsUser: 1000 }),
      serviceAccountName: () => "default",
      imagePullSecrets: () => [{ name: "pull" }],
      hostAliases: () => [{ ip: "192.0.2.1", hostnames: ["a"] }],
    }),
  };
}

function container(c: Choices, index: number): Json {
  return {
    name: `c${index}`,
    image: c.pick(["i", "i:1", "i:latest", "registry.example.com/i@sha256:00"]),
    ...c.fields(15, {
      command: () => ["run"],
      args: () => c.several(0, 2, (i) => `arg${i}`),
      env: () => c.several(0, 2, (i) => ({ name: `E${i}`, value: c.pick(["a", "b"]) })),
      ports: () =>
        c.several(0, 2, (i) => ({
          containerPort: 80 + i,
          ...c.fields(30, { name: () => `p${i}`, protocol: () => "UDP" }),
        })),
      resources: () => ({ requests: { cpu: c.pick(["100m", "1"]) } }),
      imagePullPolicy: () => c.pick(["Always", "IfNotPresent", "Sometimes"]),
      livenessProbe: () => ({ httpGet: { path: "/", port: c.pick<unknown>([80, "web"]) } }),
    }),
  };
}

function volume(c: Choices, index: number): Json {
  const source = c.pick<Json>([
    { emptyDir: {} },
    { configMap: { name: "a" } },
    { secret: { secretName: "a" } },
    { hostPath: { path: "/x" } },
    {},
  ]);
  return { name: `v${index}`, ...source };
}

/** A Deployment's spec. */
export function workloadSpec(c: Choices): Json {
  const label = c.pick(["x", "x", "x", "y"]);
  return {
    selector: { matchLabels: { app: "x" } },
    template: { metadata: { labels: { app: label } }, spec: podSpec(c, true) },
    ...c.fields(25, {
      replicas: () => c.pick([1, 3, 0, -1]),
      minReadySeconds: () => c.pick([0, 5]),
      paused: () => c.chance(50),
      revisionHistoryLimit: () => c.pick([2, 0]),
      strategy: () =>
        c.pick<Json>([
          { type: "Recreate" },
          { type: "RollingUpdate", rollingUpdate: { maxSurge: c.pick<unknown>([1, "50%", 0]), maxUnavailable: 0 } },
          { rollingUpdate: { maxSurge: 1 } },
        ]),
    }),
  };
}

/** A Job's spec. */
export function jobSpec(c: Choices): Json {
  return {
    template: { spec: podSpec(c, true, c.pick(["Never", "OnFailure", "Always"])) },
    ...c.fields(25, {
      parallelism: () => c.pick([1, 2, -1]),
      completions: () => c.pick([1, 3]),
      backoffLimit: () => c.pick([6, 0]),
      suspend: () => c.chance(50),
      completionMode: () => c.pick(["NonIndexed", "Indexed"]),
      ttlSecondsAfterFinished: () => 10,
    }),
  };
}
