import type { Json } from "../../interface.ts";

/** Objects that are right but for what is given. */

export const c = (more: Json): Json => ({ containers: [{ name: "c", image: "i", ...more }] });

export const port = (more: Json): Json => c({ ports: [{ containerPort: 80, ...more }] });

export const env = (e: Json): Json => c({ env: [e] });

export const vol = (v: Json): Json => ({ volumes: [{ name: "v", ...v }] });

export const mount = (m: Json, v: Json = { emptyDir: {} }): Json => ({
  ...vol(v),
  ...c({ volumeMounts: [{ name: "v", mountPath: "/m", ...m }] }),
});

export const probe = (p: Json, which = "livenessProbe"): Json => c({ [which]: p });

export const http = (more: Json): Json => probe({ httpGet: { port: 80, ...more } });

export const nodeTerm = (e: Json): Json => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions: [e] }] },
    },
  },
});

export const podTerm = (t: Json): Json => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [t] } },
});

export const spread = (t: Json): Json => ({
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", ...t }],
});

export const tol = (t: Json): Json => ({ tolerations: [t] });

export const sc = (s: Json): Json => c({ securityContext: s });

export const psc = (s: Json): Json => ({ securityContext: s });
