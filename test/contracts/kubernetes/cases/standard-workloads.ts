import type { Json } from "../interface.ts";

/** What a writer gives of an object, next to its name, and what it has then. */
export interface Standard {
  readonly apiVersion: string;
  readonly kind: string;
  /** What the name of the case adds, where a kind has several. */
  readonly variant?: string;
  readonly plural: string;
  readonly clusterScoped?: true;
  readonly generation?: 1;
  readonly given: Json;
  readonly wanted: Json;
}

const CONTAINERS = [{ name: "c", image: "i" }];
const SELECTOR = { matchLabels: { a: "b" } };
const TEMPLATE = { metadata: { labels: { a: "b" } }, spec: { containers: CONTAINERS } };
const FILLED = {
  containers: [
    {
      name: "c",
      image: "i",
      resources: {},
      terminationMessagePath: "/dev/termination-log",
      terminationMessagePolicy: "File",
      imagePullPolicy: "Always",
    },
  ],
  restartPolicy: "Always",
  terminationGracePeriodSeconds: 30,
  dnsPolicy: "ClusterFirst",
  securityContext: {},
  schedulerName: "default-scheduler",
};
const FILLED_TEMPLATE = { metadata: { labels: { a: "b" } }, spec: FILLED };

/** Pods' templates and what has them. */
export const WORKLOADS: readonly Standard[] = [
  {
    apiVersion: "v1",
    kind: "PodTemplate",
    plural: "podtemplates",
    generation: 1,
    given: { template: TEMPLATE },
    wanted: { template: FILLED_TEMPLATE },
  },
  {
    apiVersion: "v1",
    kind: "ReplicationController",
    plural: "replicationcontrollers",
    generation: 1,
    given: { spec: { template: TEMPLATE } },
    wanted: { spec: { replicas: 1, selector: { a: "b" }, template: FILLED_TEMPLATE }, status: { replicas: 0 } },
  },
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    plural: "deployments",
    generation: 1,
    given: { spec: { selector: SELECTOR, template: TEMPLATE } },
    wanted: {
      spec: {
        replicas: 1,
        selector: SELECTOR,
        template: FILLED_TEMPLATE,
        strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
      },
      status: {},
    },
  },
  {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    plural: "replicasets",
    generation: 1,
    given: { spec: { selector: SELECTOR, template: TEMPLATE } },
    wanted: { spec: { replicas: 1, selector: SELECTOR, template: FILLED_TEMPLATE }, status: { replicas: 0 } },
  },
  {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    plural: "statefulsets",
    generation: 1,
    given: {
      spec: {
        serviceName: "s",
        selector: SELECTOR,
        template: TEMPLATE,
        volumeClaimTemplates: [
          {
            metadata: { name: "d" },
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        ],
      },
    },
    wanted: {
      spec: {
        replicas: 1,
        selector: SELECTOR,
        template: FILLED_TEMPLATE,
        volumeClaimTemplates: [
          {
            kind: "PersistentVolumeClaim",
            apiVersion: "v1",
            metadata: { name: "d" },
            spec: {
              accessModes: ["ReadWriteOnce"],
              resources: { requests: { storage: "1Gi" } },
              volumeMode: "Filesystem",
            },
            status: { phase: "Pending" },
          },
        ],
        serviceName: "s",
        podManagementPolicy: "OrderedReady",
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
        revisionHistoryLimit: 10,
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
      },
      status: { replicas: 0, availableReplicas: 0 },
    },
  },
  {
    apiVersion: "apps/v1",
    kind: "DaemonSet",
    plural: "daemonsets",
    generation: 1,
    given: { spec: { selector: SELECTOR, template: TEMPLATE } },
    wanted: {
      spec: {
        selector: SELECTOR,
        template: FILLED_TEMPLATE,
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
        revisionHistoryLimit: 10,
      },
      status: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
    },
  },
  {
    apiVersion: "batch/v1",
    kind: "CronJob",
    plural: "cronjobs",
    generation: 1,
    given: {
      spec: {
        schedule: "* * * * *",
        jobTemplate: { spec: { template: { spec: { containers: CONTAINERS, restartPolicy: "OnFailure" } } } },
      },
    },
    wanted: {
      spec: {
        schedule: "* * * * *",
        concurrencyPolicy: "Allow",
        suspend: false,
        jobTemplate: {
          metadata: {},
          spec: { template: { metadata: {}, spec: { ...FILLED, restartPolicy: "OnFailure" } } },
        },
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
      },
      status: {},
    },
  },
];
