import { checked, immutable, int32, object, oneOf, optional, text } from "../schema/fields.ts";

/** Settings of runtime Pods. */
export const podsSettings = object(
  {
    size: optional(
      oneOf(["Small", "Medium", "Large"], {
        description: "Requests and limits of the pods, and requests in flight. Default: Small.",
      }),
    ),
    datastore: optional(
      object(
        {
          type: optional(
            oneOf(["Pooled", "Own"], {
              description:
                "An etcd that control planes share, each with a prefix and a user of its own (default), or members of its own. It can change from Pooled to Own, which moves the data; once its own etcd serves, it cannot change back.",
            }),
          ),
          members: optional(
            checked(
              int32({ minimum: 1, maximum: 3, description: "Members of an etcd of its own: 1 or 3. Default: 1." }),
              [{ rule: "self != 2", message: "two members cannot lose any: set 1 or 3" }],
            ),
          ),
          storage: optional(
            immutable(
              text(1, 32, { pattern: "^[0-9]+[KMGT]i$", description: "Size of each member's volume. Default: 8Gi." }),
            ),
          ),
          storageClassName: optional(
            immutable(
              text(1, 253, {
                description: "StorageClass of the volumes in the service cluster. Default: its default.",
              }),
            ),
          ),
        },
        { description: "Where its objects are stored." },
      ),
    ),
    exposure: optional(
      immutable(
        oneOf(["LoadBalancer", "NodePort", "Gateway"], {
          description:
            "How the API is reached: by a load balancer of its own (default), by a port of the service cluster's nodes, whose address is spec.endpoint.host, or by the operator's gateway, which all tenants share and which knows them by TLS server names.",
        }),
      ),
    ),
    cloudConfigSecret: optional(
      text(1, 253, {
        description:
          "Secret in this namespace with the key cloud.conf: a cloud controller manager runs next to the API with it. The tenant does not see it.",
      }),
    ),
  },
  { description: "Settings of runtime Pods." },
);
