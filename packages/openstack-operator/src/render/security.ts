import type { Component } from "../model/component.ts";

/** Security contexts: Pod Security "restricted", and what a component needs of its host in addition. */

export function podSecurity({ uid, host }: Component): Record<string, unknown> {
  if (host) return { seccompProfile: { type: "RuntimeDefault" } };
  return {
    runAsNonRoot: true,
    runAsUser: uid,
    runAsGroup: uid,
    fsGroup: uid,
    seccompProfile: { type: "RuntimeDefault" },
  };
}

export function containerSecurity({ uid, host }: Component): Record<string, unknown> {
  if (!host) {
    return {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    };
  }
  if (host.privileged) return { privileged: true, runAsUser: uid };
  return {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    runAsUser: uid,
    capabilities: { drop: ["ALL"], ...(host.capabilities ? { add: [...host.capabilities] } : {}) },
  };
}
