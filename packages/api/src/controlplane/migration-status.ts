import { int32, int64, object, oneOf, optional, text } from "../schema/fields.ts";

/** The move of a control plane from the shared etcd to its own. */
export const migrationStatus = object(
  {
    stage: optional(
      oneOf(["Starting", "Copying", "Freezing", "Switching", "Returning", "Withdrawn", "Retained", "Done"], {
        description:
          "Its own etcd starts, data is copied, writes are refused while both are compared, API servers with its own etcd start, it goes back to the shared etcd, the shared etcd serves as before, its own etcd serves and the shared one has the old data still, or not any more.",
      }),
    ),
    attempt: optional(int32({ description: "How often it was begun." })),
    keys: optional(int64({ description: "Keys that both etcds had when they were compared." })),
    hash: optional(text(1, 64, { description: "SHA-256 over all keys and values of both, in hexadecimal." })),
    failure: optional(text(1, 1024, { description: "Why the last attempt failed." })),
  },
  { description: "Its move from the shared etcd to its own." },
);
