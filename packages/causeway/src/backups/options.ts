import { Option } from "@commander-js/extra-typings";

/** The options that say where the backups of control planes are. */
export const backupStoreOptions = {
  cloud: () =>
    new Option("--backup-cloud <name>", "entry of clouds.yaml whose Swift has the backups of control planes"),
  s3Endpoint: () =>
    new Option(
      "--backup-s3-endpoint <url>",
      "in place of --backup-cloud: object storage with the API of S3, such as https://s3.example.org",
    ),
  s3Region: () => new Option("--backup-s3-region <name>", "its region").default("us-east-1"),
  s3Secret: () =>
    new Option(
      "--backup-s3-secret <namespace/name>",
      "Secret of the management cluster with the keys access-key and secret-key (and session-token, ca.crt)",
    ),
  s3Keys: () =>
    new Option(
      "--backup-s3-keys <dir>",
      "folder with the files access-key and secret-key (and session-token, ca.crt) for --backup-s3-endpoint",
    ),
  container: (text = "the container or bucket, created if need be") =>
    new Option("--backup-container <name>", text).default("causeway-backups"),
  keyFile: () =>
    new Option(
      "--backup-key-file <file>",
      "32 bytes in base64 that every backup is encrypted with: keep a copy elsewhere",
    ),
};
