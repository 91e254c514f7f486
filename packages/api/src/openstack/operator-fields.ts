import { object, oneOf, optional, text } from "../schema/fields.ts";

const use = (what: string) =>
  oneOf(["Auto", "Always"], {
    description: `Always: ${what} has to be installed. Auto: it is used where it is installed when the cluster is created; later neither its installation nor its removal changes that.`,
  });
const image = (description: string) => text(1, 512, { description });

/** Operators of others that run databases and brokers. */
export const operators = object(
  {
    percona: optional(
      object(
        {
          use: use("Percona's operator for XtraDB Cluster (pxc.percona.com/v1)"),
          image: image("Image of Percona XtraDB Cluster."),
          proxyImage: image("Image of HAProxy, of the same version of the operator."),
          version: optional(text(1, 32, { description: "crVersion of its objects. Default: the operator's own." })),
        },
        { description: "Database clusters as PerconaXtraDBCluster objects, with HAProxy before them." },
      ),
    ),
    rabbitmq: optional(
      object(
        {
          use: use("the RabbitMQ cluster operator (rabbitmq.com/v1beta1)"),
          image: optional(image("Image of RabbitMQ. Default: the operator's own.")),
        },
        { description: "Message brokers as RabbitmqCluster objects." },
      ),
    ),
  },
  {
    description:
      "Operators of others that run databases and brokers in place of StatefulSets. A cluster that exists remains with what runs it: its data is nowhere else. Default: none.",
  },
);
