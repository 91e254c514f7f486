import { checked, int32, int64, object, optional } from "../schema/fields.ts";

/** Keystone tries the keys of earlier rotations one after another. */
const MOST_ROTATIONS = 240;

/** `spec.rotation` of an OpenStackDeployment. */
export const rotation = object(
  {
    passwords: optional(
      int64({
        minimum: 0,
        description: "Raise it by one to replace every password of services. It cannot be lowered.",
      }),
    ),
    keys: optional(
      int64({
        minimum: 0,
        description:
          "Raise it by one to replace Keystone's credential keys, memcached's key and the secret of Neutron's metadata. It cannot be lowered.",
      }),
    ),
    tokenKeys: optional(
      checked(
        object(
          {
            everyMinutes: optional(
              int32({ minimum: 1, maximum: 1440, description: "Minutes between rotations, in place of everyHours." }),
            ),
            everyHours: optional(
              int32({ minimum: 1, maximum: 8760, description: "Hours between rotations. Default 12." }),
            ),
            lifetimeHours: optional(int32({ minimum: 1, maximum: 168, description: "Life of a token. Default 12." })),
          },
          { description: "Fernet keys of Keystone. As many are kept as tokens live." },
        ),
        [
          {
            rule: "!has(self.everyMinutes) || !has(self.everyHours)",
            message: "everyMinutes and everyHours exclude each other",
          },
          {
            rule: `!has(self.everyMinutes) || (has(self.lifetimeHours) ? self.lifetimeHours : 12) * 60 <= self.everyMinutes * ${MOST_ROTATIONS}`,
            message: `a token may not outlive more than ${MOST_ROTATIONS} rotations, whose keys are all kept: shorten lifetimeHours, which is 12 by default, or rotate less often`,
          },
        ],
      ),
    ),
    certificateDays: optional(
      int32({ minimum: 2, maximum: 3650, description: "Life of certificates; renewed after two thirds. Default 90." }),
    ),
  },
  { description: "Replacement of passwords, keys and certificates." },
);
