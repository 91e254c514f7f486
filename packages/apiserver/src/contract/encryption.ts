/** How records are encrypted on disk. */
export interface EncryptionOptions {
  /**
   * A file with an apiserver.config.k8s.io/v1 EncryptionConfiguration (YAML or JSON; providers identity, aescbc,
   * aesgcm, secretbox, kms v2). It is read again when it changes, and records are then rewritten as it says.
   */
  readonly configurationFile: string;
}
