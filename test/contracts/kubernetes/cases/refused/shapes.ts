import type { Json } from "../../interface.ts";

/** Objects that are right but for what is given. */

export const T = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };

export const S = { matchLabels: { a: "b" } };

export const dep = (more: Json): Json => ({ spec: { selector: S, template: T, ...more } });

export const set = (more: Json): Json => ({ spec: { serviceName: "s", selector: S, template: T, ...more } });

export const JT = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };

export const job = (more: Json): Json => ({ spec: { template: JT, ...more } });

export const cron = (more: Json): Json => ({
  spec: { schedule: "* * * * *", jobTemplate: { spec: { template: JT } }, ...more },
});

export const hpa = (more: Json): Json => ({
  spec: { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" }, ...more },
});

export const limit = (l: Json): Json => ({ spec: { limits: [{ type: "Container", ...l }] } });

export const quota = (hard: Json, more: Json = {}): Json => ({ spec: { hard, ...more } });

export const pv = (more: Json): Json => ({
  spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" }, ...more },
});

export const pvc = (more: Json): Json => ({
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...more },
});

export const np = (more: Json): Json => ({ spec: { podSelector: {}, ...more } });

export const path = (p: Json): Json => ({
  spec: {
    rules: [
      {
        http: {
          paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "s", port: { number: 80 } } }, ...p }],
        },
      },
    ],
  },
});

export const resource = (target: Json): Json =>
  hpa({ metrics: [{ type: "Resource", resource: { name: "cpu", target } }] });
