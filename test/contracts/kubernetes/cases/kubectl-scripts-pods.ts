import type { Script } from "./kubectl-scripts.ts";

export const MORE_SCRIPTS: readonly Script[] = [
  {
    name: "get and describe show pods",
    steps: [
      ["create -f pod.json", "pod/p created"],
      [
        "get pod p",
        `
NAME READY STATUS RESTARTS AGE
p 0/1 Pending 0 AGE`,
      ],
      [
        "get pod -o wide",
        `
NAME READY STATUS RESTARTS AGE IP NODE NOMINATED NODE READINESS GATES
p 0/1 Pending 0 AGE <none> <none> <none> <none>`,
      ],
      ["get pods -o name", "pod/p"],
      ["get pod p --show-labels --no-headers", "p 0/1 Pending 0 AGE <none>"],
      [
        "get pod p -o custom-columns=N:.metadata.name,I:.spec.containers[0].image",
        `
N I
p i`,
      ],
      ["wait pod p --for=jsonpath={.status.phase}=Pending --timeout=3s", "pod/p condition met"],
      [
        "wait pod p --for=condition=Ready --timeout=1s",
        `
error: timed out waiting for the condition on pods/p
exit 1`,
      ],
      ["delete pod p --now", 'pod "p" deleted'],
      [
        "get pod p",
        `
Error from server (NotFound): pods "p" not found
exit 1`,
      ],
      ["wait pod p --for=delete --timeout=3s", ""],
    ],
  },
  {
    name: "patch, label and annotate change objects",
    steps: [
      ["create -f cm.yaml", "configmap/cm created"],
      ["label cm cm x=y", "configmap/cm labeled"],
      [
        "label cm cm x=z",
        `
error: 'x' already has a value (y), and --overwrite is false
exit 1`,
      ],
      ["label --overwrite cm cm x=z", "configmap/cm labeled"],
      ["annotate cm cm note=hello", "configmap/cm annotated"],
      ['patch cm cm -p {"metadata":{"labels":{"q":"1"}}}', "configmap/cm patched"],
      ['patch cm cm --type=merge -p {"metadata":{"labels":{"q":null}}}', "configmap/cm patched"],
      ['patch cm cm --type=json -p [{"op":"add","path":"/metadata/labels/w","value":"1"}]', "configmap/cm patched"],
      [
        'patch cm cm --type=json -p [{"op":"remove","path":"/metadata/labels/none"}]',
        `
The request is invalid: the server rejected our request due to an error in our request
exit 1`,
      ],
      ["get cm cm -o jsonpath={.metadata.labels}", '{"a":"b","w":"1","x":"z"}'],
    ],
  },
  {
    name: "get and describe show jobs",
    steps: [
      ["create -f job.json", "job.batch/job created"],
      [
        "get jobs",
        `
NAME STATUS COMPLETIONS DURATION AGE
job Running 0/1 AGE`,
      ],
      [
        "get jobs -o wide",
        `
NAME STATUS COMPLETIONS DURATION AGE CONTAINERS IMAGES SELECTOR
job Running 0/1 AGE c i j=1`,
      ],
      [
        "describe job job",
        `
Name: job
Namespace: NAMESPACE
Selector: j=1
Labels: j=1
Annotations: <none>
Parallelism: 1
Completions: 1
Completion Mode: NonIndexed
Suspend: false
Backoff Limit: 6
Pods Statuses: 0 Active / 0 Succeeded / 0 Failed
Pod Template:
 Labels: j=1
 Containers:
 c:
 Image: i
 Port: <none>
 Host Port: <none>
 Environment: <none>
 Mounts: <none>
 Volumes: <none>
 Node-Selectors: <none>
 Tolerations: <none>
Events: <none>`,
      ],
      ["create cronjob cj --image=i --schedule=*/5~*~*~*~* -- echo hi", "cronjob.batch/cj created"],
      [
        "get cj",
        `
NAME SCHEDULE TIMEZONE SUSPEND ACTIVE LAST SCHEDULE AGE
cj */5 * * * * <none> False 0 <none> AGE`,
      ],
      [
        "get cj -o wide",
        `
NAME SCHEDULE TIMEZONE SUSPEND ACTIVE LAST SCHEDULE AGE CONTAINERS IMAGES SELECTOR
cj */5 * * * * <none> False 0 <none> AGE cj i <none>`,
      ],
      ["create job j2 --from=cronjob/cj", "job.batch/j2 created"],
      ["get job j2 -o jsonpath={.metadata.ownerReferences[0].kind}", "CronJob"],
      ["delete job job --cascade=foreground --wait=false", 'job.batch "job" deleted'],
    ],
  },
  {
    name: "create makes objects by its generators",
    steps: [
      ["create configmap c1 --from-literal=a=b", "configmap/c1 created"],
      ["create secret generic s1 --from-literal=a=b", "secret/s1 created"],
      [
        "get secret s1 -o yaml",
        `
apiVersion: v1
data:
 a: Yg==
kind: Secret
metadata:
 creationTimestamp: "TIME"
 name: s1
 namespace: NAMESPACE
 resourceVersion: "N"
 uid: UID
type: Opaque`,
      ],
      [
        "describe secret s1",
        `
Name: s1
Namespace: NAMESPACE
Labels: <none>
Annotations: <none>

Type: Opaque

Data
====
a: 1 bytes`,
      ],
      ["create quota q1 --hard=pods=2,services=3", "resourcequota/q1 created"],
      ["create pdb pdb1 --selector=app=web --min-available=1", "poddisruptionbudget.policy/pdb1 created"],
      [
        "get pdb",
        `
NAME MIN AVAILABLE MAX UNAVAILABLE ALLOWED DISRUPTIONS AGE
pdb1 1 N/A 0 AGE`,
      ],
      [
        "describe pdb pdb1",
        `
Name: pdb1
Namespace: NAMESPACE
Min available: 1
Selector: app=web
Status:
 Allowed disruptions: 0
 Current: 0
 Desired: 0
 Total: 0
Events: <none>`,
      ],
      ["create sa sa1", "serviceaccount/sa1 created"],
      [
        "describe sa sa1",
        `
Name: sa1
Namespace: NAMESPACE
Labels: <none>
Annotations: <none>
Image pull secrets: <none>
Mountable secrets: <none>
Tokens: <none>
Events: <none>`,
      ],
      [
        "create priorityclass pc-NAMESPACE --value=7 --description=d",
        "priorityclass.scheduling.k8s.io/pc-NAMESPACE created",
      ],
      [
        "get pc pc-NAMESPACE",
        `
NAME VALUE GLOBAL-DEFAULT AGE PREEMPTIONPOLICY
pc-NAMESPACE 7 false AGE PreemptLowerPriority`,
      ],
      ["delete pc pc-NAMESPACE", 'priorityclass.scheduling.k8s.io "pc-NAMESPACE" deleted'],
    ],
  },
];
