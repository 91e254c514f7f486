/** Commands, and what kubectl says after each: blanks squeezed, ids and times by name, "exit N" when it fails. */
export interface Script {
  readonly name: string;
  readonly steps: readonly (readonly [command: string, says: string])[];
}

export const SCRIPTS: readonly Script[] = [
  {
    name: "apply, diff and edit change objects",
    steps: [
      ["apply -f cm.yaml", "configmap/cm created"],
      ["apply -f cm.yaml", "configmap/cm unchanged"],
      [
        "diff -f cm2.yaml",
        `
---
+++
@@ -1,6 +1,7 @@
 apiVersion: v1
 data:
 color: red
+ size: big
 kind: ConfigMap
 metadata:
 annotations:
@@ -8,7 +9,7 @@
 {"apiVersion":"v1","data":{"color":"red"},"kind":"ConfigMap","metadata":{"annotations":{},"labels":{"a":"b"},"name":"cm","namespace":"NAMESPACE"}}
 creationTimestamp: "TIME"
 labels:
- a: b
+ a: c
 name: cm
 namespace: NAMESPACE
 resourceVersion: "N"
exit 1`,
      ],
      ["apply -f cm2.yaml", "configmap/cm configured"],
      [
        "get cm cm -o yaml",
        `
apiVersion: v1
data:
 color: red
 size: big
kind: ConfigMap
metadata:
 annotations:
 kubectl.kubernetes.io/last-applied-configuration: |
 {"apiVersion":"v1","data":{"color":"red","size":"big"},"kind":"ConfigMap","metadata":{"annotations":{},"labels":{"a":"c"},"name":"cm","namespace":"NAMESPACE"}}
 creationTimestamp: "TIME"
 labels:
 a: c
 name: cm
 namespace: NAMESPACE
 resourceVersion: "N"
 uid: UID`,
      ],
      ["get cm cm -o jsonpath={.data.color}", "red"],
      ["edit cm cm", "configmap/cm edited"],
      ["get cm cm -o jsonpath={.data.color}", "green"],
      ["get cm -l a=c -o name", "configmap/cm"],
      [
        "get cm cm --show-labels",
        `
NAME DATA AGE LABELS
cm 2 AGE a=c`,
      ],
      ["replace -f cm.yaml", "configmap/cm replaced"],
      [
        "replace --force -f cm.yaml",
        `
configmap "cm" deleted
configmap/cm replaced`,
      ],
    ],
  },
  {
    name: "apply --server-side changes objects",
    steps: [
      ["apply --server-side -f cm.yaml", "configmap/cm serverside-applied"],
      [
        "apply --server-side --field-manager=other -f cm2.yaml",
        `
error: Apply failed with 1 conflict: conflict with "kubectl": .metadata.labels.a
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
 command with the \`--force-conflicts\` flag.
* If you do not intend to manage all of the fields, please edit your
 manifest to remove references to the fields that should keep their
 current managers.
* You may co-own fields by updating your manifest to match the existing
 value; in this case, you'll become the manager if the other manager(s)
 stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts
exit 1`,
      ],
      ["apply --server-side --force-conflicts --field-manager=other -f cm2.yaml", "configmap/cm serverside-applied"],
      [
        "apply --server-side --dry-run=server --force-conflicts -f cm.yaml",
        "configmap/cm serverside-applied (server dry run)",
      ],
      ["get cm cm -o jsonpath={.data}", '{"color":"red","size":"big"}'],
    ],
  },
  {
    name: "create and delete report objects and errors",
    steps: [
      ["create -f cm.yaml", "configmap/cm created"],
      [
        "create -f cm.yaml",
        `
Error from server (AlreadyExists): error when creating "cm.yaml": configmaps "cm" already exists
exit 1`,
      ],
      [
        "create -f bad.yaml",
        `
Error from server (BadRequest): error when creating "bad.yaml": ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "datum"
exit 1`,
      ],
      ["create --validate=ignore -f bad.yaml", "configmap/bad created"],
      ["delete cm bad", 'configmap "bad" deleted'],
      [
        "apply -f many.yaml",
        `
configmap/m1 created
secret/m2 created
serviceaccount/m3 created`,
      ],
      [
        "get cm/m1 secret/m2 sa/m3",
        `
NAME DATA AGE
configmap/m1 0 AGE

NAME TYPE DATA AGE
secret/m2 Opaque 1 AGE

NAME SECRETS AGE
serviceaccount/m3 0 AGE`,
      ],
      [
        "delete -f many.yaml",
        `
configmap "m1" deleted
secret "m2" deleted
serviceaccount "m3" deleted`,
      ],
      [
        "get cm nosuch",
        `
Error from server (NotFound): configmaps "nosuch" not found
exit 1`,
      ],
      [
        "delete cm nosuch",
        `
Error from server (NotFound): configmaps "nosuch" not found
exit 1`,
      ],
      ["delete cm nosuch --ignore-not-found", ""],
      [
        "get nosuch",
        `
error: the server doesn't have a resource type "nosuch"
exit 1`,
      ],
      [
        "get pods --field-selector=spec.bogus=1",
        `
Error from server (BadRequest): Unable to find "/v1, Resource=pods" that match label selector "", field selector "spec.bogus=1": field label not supported: spec.bogus
exit 1`,
      ],
    ],
  },
  {
    name: "get and describe show deployments",
    steps: [
      ["create -f web.json", "deployment.apps/web created"],
      [
        "get deploy",
        `
NAME READY UP-TO-DATE AVAILABLE AGE
web 0/2 0 0 AGE`,
      ],
      [
        "get deploy -o wide",
        `
NAME READY UP-TO-DATE AVAILABLE AGE CONTAINERS IMAGES SELECTOR
web 0/2 0 0 AGE web nginx:1.27 app=web`,
      ],
      [
        "describe deploy web",
        `
Name: web
Namespace: NAMESPACE
CreationTimestamp: DATE
Labels: <none>
Annotations: <none>
Selector: app=web
Replicas: 2 desired | 0 updated | 0 total | 0 available | 0 unavailable
StrategyType: RollingUpdate
MinReadySeconds: 0
RollingUpdateStrategy: 25% max unavailable, 25% max surge
Pod Template:
 Labels: app=web
 Containers:
 web:
 Image: nginx:1.27
 Port: 80/TCP
 Host Port: 0/TCP
 Environment: <none>
 Mounts: <none>
 Volumes: <none>
 Node-Selectors: <none>
 Tolerations: <none>
Events: <none>`,
      ],
      ["get deploy web -o jsonpath={.spec.template.spec.containers[0].image}", "nginx:1.27"],
      [
        "get all",
        `
NAME READY UP-TO-DATE AVAILABLE AGE
deployment.apps/web 0/2 0 0 AGE`,
      ],
      [
        "get deploy web -o custom-columns=N:.metadata.name,R:.spec.replicas",
        `
N R
web 2`,
      ],
    ],
  },
  {
    name: "set, scale and rollout change deployments",
    steps: [
      ["apply -f web.json", "deployment.apps/web created"],
      ["apply -f web2.json", "deployment.apps/web configured"],
      ["set image deploy/web web=nginx:1.29", "deployment.apps/web image updated"],
      ["scale deploy web --replicas=5", "deployment.apps/web scaled"],
      ["get deploy web -o jsonpath={.spec.replicas}", "5"],
      [
        "scale deploy web --current-replicas=2 --replicas=1",
        `
error: Expected replicas to be 2, was 5
exit 1`,
      ],
      [
        "rollout history deploy web",
        `
deployment.apps/web
No rollout history found.`,
      ],
      ["rollout pause deploy web", "deployment.apps/web paused"],
      ["rollout resume deploy web", "deployment.apps/web resumed"],
      ["get deploy web -o jsonpath={.metadata.generation}", "6"],
      ["delete deploy web --cascade=background --wait=false", 'deployment.apps "web" deleted'],
    ],
  },
  {
    name: "get and describe show autoscalers",
    steps: [
      ["create -f web.json", "deployment.apps/web created"],
      ["autoscale deploy web --min=1 --max=4 --cpu-percent=70", "horizontalpodautoscaler.autoscaling/web autoscaled"],
      [
        "get hpa",
        `
NAME REFERENCE TARGETS MINPODS MAXPODS REPLICAS AGE
web Deployment/web cpu: <unknown>/70% 1 4 0 AGE`,
      ],
      [
        "get hpa web -o yaml",
        `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
 creationTimestamp: "TIME"
 name: web
 namespace: NAMESPACE
 resourceVersion: "N"
 uid: UID
spec:
 maxReplicas: 4
 metrics:
 - resource:
 name: cpu
 target:
 averageUtilization: 70
 type: Utilization
 type: Resource
 minReplicas: 1
 scaleTargetRef:
 apiVersion: apps/v1
 kind: Deployment
 name: web
status:
 currentMetrics: null
 desiredReplicas: 0`,
      ],
      [
        "describe hpa web",
        `
Name: web
Namespace: NAMESPACE
Labels: <none>
Annotations: <none>
CreationTimestamp: DATE
Reference: Deployment/web
Metrics: ( current / target )
 resource cpu on pods (as a percentage of request): <unknown> / 70%
Min replicas: 1
Max replicas: 4
Deployment pods: 0 current / 0 desired
Events: <none>`,
      ],
      ["get hpa.v1.autoscaling web -o jsonpath={.spec.targetCPUUtilizationPercentage}", ""],
      ["delete hpa web", 'horizontalpodautoscaler.autoscaling "web" deleted'],
    ],
  },
  {
    name: "get and describe show services and ingresses",
    steps: [
      ["create -f web.json", "deployment.apps/web created"],
      ["expose deploy web --name=exp --port=80 --cluster-ip=None", "service/exp exposed"],
      [
        "get svc",
        `
NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE
exp ClusterIP None <none> 80/TCP AGE`,
      ],
      [
        "get svc -o wide",
        `
NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE SELECTOR
exp ClusterIP None <none> 80/TCP AGE app=web`,
      ],
      [
        "describe svc exp",
        `
Name: exp
Namespace: NAMESPACE
Labels: <none>
Annotations: <none>
Selector: app=web
Type: ClusterIP
IP Family Policy: SingleStack
IP Families: IPv4
IP: None
IPs: None
Port: <unset> 80/TCP
TargetPort: 80/TCP
Endpoints: <none>
Session Affinity: None
Internal Traffic Policy: Cluster
Events: <none>`,
      ],
      ["create -f ing.json", "ingress.networking.k8s.io/ing created"],
      [
        "get ing",
        `
NAME CLASS HOSTS ADDRESS PORTS AGE
ing <none> a.example.com 80 AGE`,
      ],
      [
        "describe ing ing",
        `
Name: ing
Labels: <none>
Namespace: NAMESPACE
Address:
Ingress Class: <none>
Default backend: <default>
Rules:
 Host Path Backends
 ----
 a.example.com
 / svc:80 (<error: services "svc" not found>)
Annotations: <none>
Events: <none>`,
      ],
      ["create ingress i2 --rule=b.example.com/*=svc:80", "ingress.networking.k8s.io/i2 created"],
      [
        "get ing -o wide",
        `
NAME CLASS HOSTS ADDRESS PORTS AGE
i2 <none> b.example.com 80 AGE
ing <none> a.example.com 80 AGE`,
      ],
      ["get netpol", "No resources found in NAMESPACE namespace."],
    ],
  },
];
