import { anyText, checked, flag, instant, int32, int64, listByKey } from "../schema/fields.ts";
import { object, oneOf, optional, setOf, text } from "../schema/fields.ts";

const secretRef = (description: string) =>
  object({ name: text(1, 253, { description: "Its name." }) }, { description });

const target = checked(
  object(
    {
      claim: optional(
        text(1, 253, { description: "PersistentVolumeClaim of the namespace that backups are kept in." }),
      ),
      s3: optional(
        object(
          {
            endpoint: text(1, 512, {
              pattern: "^https?://[^/]+/?$",
              description: "Address of the object store, such as https://s3.example.org: S3, or Swift's own S3 API.",
            }),
            bucket: text(1, 255, { pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$", description: "Bucket, which exists." }),
            prefix: optional(
              text(1, 255, { pattern: "^[A-Za-z0-9][A-Za-z0-9/._-]*$", description: "Folder in the bucket." }),
            ),
            region: optional(text(1, 64, { description: "Region for signatures. Default us-east-1." })),
            credentials: secretRef(
              "Secret with keys accessKey and secretKey, and ca.crt where the store's authority is not a public one.",
            ),
          },
          { description: "Bucket of an object store." },
        ),
      ),
    },
    { description: "Where backups are kept: a claim, or a bucket." },
  ),
  [{ rule: "has(self.claim) != has(self.s3)", message: "a target is a claim or an s3 bucket, and not both" }],
);

const keys = secretRef(
  "Secret with key passphrase, which passwords and keys are encrypted with. Keep a copy elsewhere: no backup has it.",
);

/** A run of a backup, which is a part of names of Jobs and of files. */
const RUN = "^[0-9]{8}t[0-9]{6}z$";

/** `spec.monitoring` of an OpenStackDeployment. */
export const monitoring = object(
  {
    namespace: text(1, 63, {
      pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
      description: "Namespace of Prometheus: its pods may read the metrics of databases, brokers and caches.",
    }),
    exporters: optional(
      flag({
        description:
          "Whether databases and caches get an exporter in their pods, from images mysqld-exporter and memcached-exporter. Default false.",
      }),
    ),
  },
  { description: "Who reads metrics, and of what." },
);

/** `spec.backup` of an OpenStackDeployment. */
export const backup = object(
  {
    target,
    keys,
    everyHours: optional(int32({ minimum: 1, maximum: 168, description: "Hours between backups. Default 24." })),
    hour: optional(
      int32({ minimum: 0, maximum: 23, description: "Hour of the day, in UTC, that the times start from. Default 2." }),
    ),
    keep: optional(int32({ minimum: 1, maximum: 60, description: "Complete backups that are kept. Default 7." })),
  },
  { description: "Backups of databases, of OVN's databases, and of passwords and keys." },
);

/** `spec.restore` of an OpenStackDeployment. */
export const restore = object(
  {
    target,
    keys,
    deployment: optional(text(1, 63, { description: "Deployment that was backed up. Default: of the same name." })),
    from: text(1, 32, { pattern: RUN, description: "The backup, such as 20260101t020000z, from status.backups." }),
    overwrite: optional(
      flag({
        description: "True: data, passwords and keys that volumes and Secrets still have are replaced. Default false.",
      }),
    ),
  },
  { description: "The deployment begins with the data of a backup. It is set when the deployment is created." },
);

/** `status.backup` of an OpenStackDeployment. */
export const backupStatus = object(
  {
    run: optional(anyText({ description: "The backup that is being made." })),
    step: optional(text(0, 512, { description: "What it does or waits for." })),
    last: optional(instant({ description: "When the last complete backup was begun." })),
    next: optional(instant({ description: "When the next one is due." })),
  },
  { description: "Backups as they are made." },
);

/** `status.backups` of an OpenStackDeployment; a run is a time in UTC, such as 20260101t020000z. */
export const backups = listByKey(
  object({
    run: text(1, 32, { description: "Its name." }),
    state: oneOf(["Running", "Complete", "Failed"], { description: "What became of it." }),
    startedAt: instant({ description: "When it began." }),
    completedAt: optional(instant({ description: "When it ended." })),
    bytes: optional(int64({ minimum: 0, description: "Its size." })),
    message: optional(text(0, 512, { description: "Why it failed." })),
  }),
  ["run"],
  { max: 64, description: "Backups, the newest first." },
);

/** `status.restore` of an OpenStackDeployment: the steps of a restore are kept, so that it can be continued. */
export const restoreStatus = object(
  {
    from: anyText({ description: "The backup: deployment and run." }),
    step: anyText({ description: "The step that is under way." }),
    done: setOf(text(1, 63), { max: 16, description: "Steps that ended." }),
    startedAt: instant({ description: "When it began." }),
    completedAt: optional(instant({ description: "When it ended." })),
  },
  { description: "A restore." },
);
