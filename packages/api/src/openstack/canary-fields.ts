import { int32, object, optional, text } from "../schema/fields.ts";

const external = object(
  {
    network: text(1, 255, { description: "Name or ID of an external network of the cloud." }),
    cidr: text(1, 64, {
      pattern: "^[0-9a-fA-F.:]+/[0-9]{1,3}$",
      description: "Addresses of its floating IPs: the canary's pod may reach these in addition to the APIs.",
    }),
  },
  { description: "Where the server gets a floating IP that is pinged. Default: no server is pinged." },
);

/** A user of the cloud that tries it again and again. */
export const canary = object(
  {
    image: text(1, 255, { description: "Name or ID of a public image, such as one of CirrOS." }),
    flavor: text(1, 255, { description: "Name or ID of a small flavor." }),
    everySeconds: optional(
      int32({ minimum: 60, maximum: 86_400, description: "Time between the starts of runs. Default 900." }),
    ),
    timeoutSeconds: optional(
      int32({ minimum: 30, maximum: 3600, description: "When a run counts as failed. Default 600." }),
    ),
    external: optional(external),
  },
  {
    description:
      "Boots a server on a network of its own in project causeway-canary, pings it and deletes everything, and reports metrics. Default: none.",
  },
);
