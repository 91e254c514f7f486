import { base64 } from "@causeway/foundation";
import type { Secret } from "@causeway/kubernetes";
import { tokenSecret } from "../kubeadm-config/token.ts";

/** What the planner of KubeadmConfigs reads, for tables about it. */

const TOKEN = "abcdef.0123456789abcdef";

/** The bootstrap data that the KubeadmConfig "w-1" of UID "c" created. */
export const dataSecret: Secret = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: {
    name: "w-1",
    ownerReferences: [{ apiVersion: "a", kind: "KubeadmConfig", name: "w-1", uid: "c", controller: true }],
  },
  data: { "bootstrap-token": base64(TOKEN) },
};

/** The token of that data, which expires then (ms since epoch). */
export const tokenUntil = (expires: number) => tokenSecret(TOKEN, { configUid: "c", machine: "w-1" }, expires);
