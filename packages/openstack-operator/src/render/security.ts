import type { Component } from "../model/component.ts";

/** Security contexts: Pod Security "restricted", and what a component needs of its host in addition. */

/** The securityContext of a component's pods: of those that need their host only the seccomp profile is set. */
export function podSecurity({ uid, host, pings }: Component): Record<string, unknown> {
  if (host) return { seccompProfile: { type: "RuntimeDefault" } };
  return {
    runAsNonRoot: true,
    runAsUser: uid,
    runAsGroup: uid,
    fsGroup: uid,
    // A safe one, which concerns the pod's own network alone: echo requests without a privilege.
    ...(pings ? { sysctls: [{ name: "net.ipv4.ping_group_range", value: `${uid} ${uid}` }] } : {}),
    seccompProfile: { type: "RuntimeDefault" },
  };
}

/** A container's security context; the pod's is `podSecurity`. */
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
