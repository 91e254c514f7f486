import type { PodRow } from "./row.ts";
import { c, vol, mount } from "./pod-shapes.ts";
import { LABEL, SUBDOMAIN } from "./words.ts";

/** What is given, and why it is refused. */
export const podVolumes: readonly PodRow[] = [
  ["mounts: no path", mount({ mountPath: "" }), ["spec.containers[0].volumeMounts[0].mountPath: Required value"]],
  [
    "mounts: path twice",
    {
      ...vol({ emptyDir: {} }),
      ...c({
        volumeMounts: [
          { name: "v", mountPath: "/m" },
          { name: "v", mountPath: "/m" },
        ],
      }),
    },
    ['spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/m": must be unique'],
  ],
  [
    "mounts: no name",
    mount({ name: "" }),
    [
      "spec.containers[0].volumeMounts[0].name: Required value",
      'spec.containers[0].volumeMounts[0].name: Not found: ""',
    ],
  ],
  ["mounts: unknown", mount({ name: "w" }), ['spec.containers[0].volumeMounts[0].name: Not found: "w"']],
  [
    "mounts: sub path up",
    mount({ subPath: "../x" }),
    ["spec.containers[0].volumeMounts.subPath: Invalid value: \"../x\": must not contain '..'"],
  ],
  [
    "mounts: sub path absolute",
    mount({ subPath: "/x" }),
    ['spec.containers[0].volumeMounts.subPath: Invalid value: "/x": must be a relative path'],
  ],
  [
    "mounts: sub path and expression",
    mount({ subPath: "x", subPathExpr: "y" }),
    [
      'spec.containers[0].volumeMounts[0].subPathExpr: Invalid value: "y": subPathExpr and subPath are mutually exclusive',
    ],
  ],
  [
    "mounts: propagation",
    mount({ mountPropagation: "X" }),
    [
      'spec.containers[0].volumeMounts.mountPropagation: Unsupported value: "X": supported values: "Bidirectional", "HostToContainer", "None"',
    ],
  ],
  [
    "mounts: propagation without privileges",
    mount({ mountPropagation: "Bidirectional" }),
    [
      "spec.containers[0].volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers",
    ],
  ],
  [
    "mounts: recursive read only",
    mount({ recursiveReadOnly: "X" }),
    [
      'spec.containers[0].volumeMounts.recursiveReadOnly: Unsupported value: "X": supported values: "Disabled", "Enabled", "IfPossible"',
    ],
  ],
  [
    "mounts: recursive read only of what is written",
    mount({ recursiveReadOnly: "Enabled" }),
    ["spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true"],
  ],
  [
    "devices: of no claim",
    { ...vol({ emptyDir: {} }), ...c({ volumeDevices: [{ name: "v", devicePath: "/d" }] }) },
    [
      'spec.containers[0].volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
    ],
  ],
  [
    "devices: no path",
    { ...vol({ persistentVolumeClaim: { claimName: "p" } }), ...c({ volumeDevices: [{ name: "v", devicePath: "" }] }) },
    ["spec.containers[0].volumeDevices[0].devicePath: Required value"],
  ],
  [
    "volumes: name",
    { volumes: [{ name: "A_", emptyDir: {} }] },
    [`spec.volumes[0].name: Invalid value: "A_": ${LABEL}`],
  ],
  ["volumes: no name", { volumes: [{ emptyDir: {} }] }, ["spec.volumes[0].name: Required value"]],
  [
    "volumes: names twice",
    {
      volumes: [
        { name: "v", emptyDir: {} },
        { name: "v", emptyDir: {} },
      ],
    },
    ['spec.volumes[1].name: Duplicate value: "v"'],
  ],
  [
    "volumes: two sources",
    vol({ emptyDir: {}, hostPath: { path: "/x" } }),
    ["spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"],
  ],
  ["volumes: host path none", vol({ hostPath: { path: "" } }), ["spec.volumes[0].hostPath.path: Required value"]],
  [
    "volumes: host path up",
    vol({ hostPath: { path: "/a/../b" } }),
    ["spec.volumes[0].hostPath.path: Invalid value: \"/a/../b\": must not contain '..'"],
  ],
  [
    "volumes: host path type",
    vol({ hostPath: { path: "/a", type: "X" } }),
    [
      'spec.volumes[0].hostPath.type: Unsupported value: "X": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
    ],
  ],
  [
    "volumes: empty dir size",
    vol({ emptyDir: { sizeLimit: "-1" } }),
    ["spec.volumes[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity"],
  ],
  ["volumes: secret none", vol({ secret: {} }), ["spec.volumes[0].secret.secretName: Required value"]],
  [
    "volumes: secret mode",
    vol({ secret: { secretName: "s", defaultMode: 1000 } }),
    [
      "spec.volumes[0].secret.defaultMode: Invalid value: 1000: must be a number between 0 and 0777 (octal), both inclusive",
    ],
  ],
  [
    "volumes: secret item",
    vol({ secret: { secretName: "s", items: [{ key: "", path: "" }] } }),
    ["spec.volumes[0].secret.items[0].key: Required value", "spec.volumes[0].secret.items[0].path: Required value"],
  ],
  [
    "volumes: item up",
    vol({ configMap: { name: "s", items: [{ key: "a", path: "../b" }] } }),
    ["spec.volumes[0].configMap.items[0].path: Invalid value: \"../b\": must not contain '..'"],
  ],
  [
    "volumes: item absolute",
    vol({ configMap: { name: "s", items: [{ key: "a", path: "/b" }] } }),
    ['spec.volumes[0].configMap.items[0].path: Invalid value: "/b": must be a relative path'],
  ],
  [
    "volumes: item mode",
    vol({ configMap: { name: "s", items: [{ key: "a", path: "b", mode: -1 }] } }),
    [
      "spec.volumes[0].configMap.items[0].mode: Invalid value: -1: must be a number between 0 and 0777 (octal), both inclusive",
    ],
  ],
  ["volumes: config map none", vol({ configMap: {} }), ["spec.volumes[0].configMap.name: Required value"]],
  [
    "volumes: claim none",
    vol({ persistentVolumeClaim: { claimName: "" } }),
    ["spec.volumes[0].persistentVolumeClaim.claimName: Required value"],
  ],
  [
    "volumes: nfs",
    vol({ nfs: { server: "", path: "x" } }),
    [
      "spec.volumes[0].nfs.server: Required value",
      'spec.volumes[0].nfs.path: Invalid value: "x": must be an absolute path',
    ],
  ],
  [
    "volumes: csi",
    vol({ csi: { driver: "" } }),
    ["spec.volumes[0].csi.driver: Required value", `spec.volumes[0].csi.driver: Invalid value: "": ${SUBDOMAIN}`],
  ],
  [
    "volumes: csi name",
    vol({ csi: { driver: "a_b" } }),
    [`spec.volumes[0].csi.driver: Invalid value: "a_b": ${SUBDOMAIN}`],
  ],
  [
    "volumes: iscsi",
    vol({ iscsi: { targetPortal: "", iqn: "x", lun: 0 } }),
    [
      "spec.volumes[0].iscsi.targetPortal: Required value",
      'spec.volumes[0].iscsi.iqn: Invalid value: "x": must be valid format starting with iqn, eui, or naa',
    ],
  ],
  [
    "volumes: projected two",
    vol({ projected: { sources: [{ secret: { name: "a" }, configMap: { name: "b" } }] } }),
    ["spec.volumes[0].projected.sources[0]: Forbidden: may not specify more than 1 volume type per source"],
  ],
  [
    "volumes: projected token",
    vol({ projected: { sources: [{ serviceAccountToken: { path: "", expirationSeconds: 10 } }] } }),
    [
      "spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 10: may not specify a duration less than 10 minutes",
      "spec.volumes[0].projected.path: Required value",
    ],
  ],
  [
    "volumes: projected paths",
    vol({
      projected: {
        sources: [
          { secret: { name: "a", items: [{ key: "k", path: "p" }] } },
          { configMap: { name: "b", items: [{ key: "k", path: "p" }] } },
        ],
      },
    }),
    ['spec.volumes[0].projected: Invalid value: "b": conflicting duplicate paths'],
  ],
  [
    "volumes: downward",
    vol({ downwardAPI: { items: [{ path: "a", fieldRef: { fieldPath: "spec.nodeName" } }] } }),
    [
      'spec.volumes[0].downwardAPI.fieldRef.fieldPath: Unsupported value: "spec.nodeName": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
    ],
  ],
  [
    "volumes: downward none",
    vol({ downwardAPI: { items: [{ path: "a" }] } }),
    ["spec.volumes[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required"],
  ],
  [
    "volumes: ephemeral none",
    vol({ ephemeral: {} }),
    ["spec.volumes[0].ephemeral.volumeClaimTemplate: Required value"],
  ],
  ["volumes: git", vol({ gitRepo: { repository: "" } }), ["spec.volumes[0].gitRepo.repository: Required value"]],
];
