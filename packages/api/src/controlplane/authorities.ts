import { anyText, checked, flag, instant, int32, list, object, oneOf, optional } from "../schema/fields.ts";

/** What is requested of the rotation of a control plane's certificate authority. */
export const authorities = checked(
  object(
    {
      rotateAfter: optional(
        instant({
          description:
            "Once this time is reached, an authority that is older is rotated: new authorities of the cluster and of its front proxy, and a new key of service-account tokens, are made next to the old ones, and both are trusted. A time after that of a running rotation waits until it has ended.",
        }),
      ),
      retireOldAfter: optional(
        instant({
          description:
            "Once this time is reached and the rotation is prepared, the old authority and key are not trusted any more: certificates, kubeconfigs and tokens of theirs are refused. Unset: both remain trusted.",
        }),
      ),
      ignoreMachines: optional(
        flag({
          description:
            "Retires the old authority though Machines remain that were made before the rotation was prepared: they cannot reach the control plane from then on. Default: it waits until they are replaced.",
        }),
      ),
    },
    { description: "Rotates the cluster's certificate authority in two phases." },
  ),
  [
    {
      rule: "!has(self.retireOldAfter) || (has(self.rotateAfter) && self.retireOldAfter >= self.rotateAfter)",
      message: "retireOldAfter needs rotateAfter and cannot be before it",
    },
  ],
);

/** How far it is. */
export const authoritiesStatus = object(
  {
    phase: optional(
      oneOf(["Current", "Preparing", "Prepared", "Retiring"], {
        description:
          "Current: one authority. Preparing: a new one is being made known. Prepared: both are trusted, and the new one signs clients' certificates; machines can be replaced. Retiring: the old one is being removed.",
      }),
    ),
    rotation: optional(instant({ description: "The rotateAfter of the running rotation, or of the last one." })),
    rotatedAt: optional(
      instant({
        description:
          "Since then all of the control plane signs clients' certificates with the authority. Machines made before it may know the old one only.",
      }),
    ),
    retiredAt: optional(instant({ description: "The last old authority is not trusted since then." })),
    expiresAt: optional(instant({ description: "When the certificate of the authority that signs expires." })),
    machines: optional(
      object(
        {
          count: optional(int32({ description: "How many there are." })),
          names: optional(list(anyText(), { max: 20, description: "Names of the first of them." })),
        },
        { description: "During a rotation: Machines that were made before it was prepared and must be replaced." },
      ),
    ),
  },
  { description: "The cluster's certificate authority, and its rotation." },
);
