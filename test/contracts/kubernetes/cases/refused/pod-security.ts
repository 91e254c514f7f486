import type { PodRow } from "./row.ts";
import { sc, psc } from "./pod-shapes.ts";

/** What is given, and why it is refused. */
export const podSecurity: readonly PodRow[] = [
  [
    "security: user",
    sc({ runAsUser: -1 }),
    ["spec.containers[0].securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive"],
  ],
  [
    "security: group",
    sc({ runAsGroup: -1 }),
    ["spec.containers[0].securityContext.runAsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive"],
  ],
  [
    "security: escalation",
    sc({ allowPrivilegeEscalation: false, privileged: true }),
    [
      'spec.containers[0].securityContext: Invalid value: {"Capabilities":null,"Privileged":true,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
    ],
  ],
  [
    "security: escalation by capability",
    sc({ allowPrivilegeEscalation: false, capabilities: { add: ["CAP_SYS_ADMIN"] } }),
    [
      'spec.containers[0].securityContext: Invalid value: {"Capabilities":{"Add":["CAP_SYS_ADMIN"],"Drop":null},"Privileged":null,"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN',
    ],
  ],
  [
    "security: proc",
    sc({ procMount: "X" }),
    ['spec.containers[0].securityContext.procMount: Unsupported value: "X": supported values: "Default", "Unmasked"'],
  ],
  [
    "security: proc unmasked",
    sc({ procMount: "Unmasked" }),
    [
      'spec.containers[0].securityContext.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`',
    ],
  ],
  [
    "security: seccomp",
    sc({ seccompProfile: { type: "X" } }),
    [
      'spec.containers[0].securityContext.seccompProfile.type: Unsupported value: "X": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
    ],
  ],
  [
    "security: seccomp without type",
    sc({ seccompProfile: {} }),
    [
      "spec.containers[0].securityContext.seccompProfile.type: Required value: type is required when seccompProfile is set",
    ],
  ],
  [
    "security: seccomp local",
    sc({ seccompProfile: { type: "Localhost" } }),
    [
      "spec.containers[0].securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost",
    ],
  ],
  [
    "security: seccomp elsewhere",
    sc({ seccompProfile: { type: "RuntimeDefault", localhostProfile: "a" } }),
    [
      'spec.containers[0].securityContext.seccompProfile.localhostProfile: Invalid value: {"Type":"RuntimeDefault","LocalhostProfile":"a"}: can only be set when seccomp type is Localhost',
    ],
  ],
  [
    "security: apparmor",
    sc({ appArmorProfile: { type: "X" } }),
    [
      'spec.containers[0].securityContext.appArmorProfile.type: Unsupported value: "X": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
    ],
  ],
  [
    "security: pod user",
    psc({ runAsUser: -1 }),
    ["spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive"],
  ],
  [
    "security: fs group",
    psc({ fsGroup: -1 }),
    ["spec.securityContext.fsGroup: Invalid value: -1: must be between 0 and 2147483647, inclusive"],
  ],
  [
    "security: groups",
    psc({ supplementalGroups: [-1] }),
    ["spec.securityContext.supplementalGroups[0]: Invalid value: -1: must be between 0 and 2147483647, inclusive"],
  ],
  [
    "security: sysctl",
    psc({ sysctls: [{ name: "A B", value: "x" }] }),
    [
      'spec.securityContext.sysctls[0].name: Invalid value: "A B": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$',
    ],
  ],
  [
    "security: sysctl twice",
    psc({
      sysctls: [
        { name: "a", value: "x" },
        { name: "a", value: "x" },
      ],
    }),
    ['spec.securityContext.sysctls[1].name: Duplicate value: "a"'],
  ],
  [
    "security: fs policy",
    psc({ fsGroupChangePolicy: "X" }),
    ['spec.securityContext.fsGroupChangePolicy: Unsupported value: "X": supported values: "Always", "OnRootMismatch"'],
  ],
  [
    "security: pod seccomp",
    psc({ seccompProfile: { type: "X" } }),
    [
      'spec.securityContext.seccompProfile.type: Unsupported value: "X": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
    ],
  ],
  [
    "security: groups policy",
    psc({ supplementalGroupsPolicy: "X" }),
    ['spec.securityContext.supplementalGroupsPolicy: Unsupported value: "X": supported values: "Merge", "Strict"'],
  ],
  ["os: name", { os: { name: "X" } }, ['spec.os: Unsupported value: "X": supported values: "linux", "windows"']],
  ["os: none", { os: { name: "" } }, ["spec.os.name: Required value"]],
  [
    "os: windows",
    { os: { name: "windows" }, ...sc({ runAsUser: 1 }) },
    ["spec.containers[0].securityContext.runAsUser: Forbidden: cannot be set for a windows pod"],
  ],
  [
    "share: processes",
    { shareProcessNamespace: true, hostPID: true },
    [
      "spec.securityContext.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled",
    ],
  ],
];
