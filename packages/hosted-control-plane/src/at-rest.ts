/**
 * Configurations of kube-apiserver that are the same whatever runs it. JSON is YAML: texts that depend on no writer of
 * YAML.
 */

/**
 * Secrets are encrypted with the key; what was written before is still read.
 * @param secret 32 bytes in base64
 */
export function encryptionConfig(secret: string): string {
  return json({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "EncryptionConfiguration",
    resources: [
      { resources: ["secrets"], providers: [{ secretbox: { keys: [{ name: "key1", secret }] } }, { identity: {} }] },
    ],
  });
}

/** Who did what to which object, without content: never more, since Secrets would be in it. */
export const auditPolicy: string = json({
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [
    { level: "None", verbs: ["get", "list", "watch"] },
    { level: "None", resources: [{ group: "coordination.k8s.io", resources: ["leases"] }] },
    { level: "None", resources: [{ group: "", resources: ["events"] }, { group: "events.k8s.io" }] },
    { level: "Metadata" },
  ],
});

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
