import type { Script } from "./kubectl-scripts.ts";

export const ACCESS_SCRIPTS: readonly Script[] = [
  {
    name: "describe and auth can-i show roles and permissions",
    steps: [
      ["create role r1 --verb=get --resource=pods", "role.rbac.authorization.k8s.io/r1 created"],
      ["create rolebinding rb1 --role=r1 --user=jane", "rolebinding.rbac.authorization.k8s.io/rb1 created"],
      [
        "describe role r1",
        `
Name: r1
Labels: <none>
Annotations: <none>
PolicyRule:
 Resources Non-Resource URLs Resource Names Verbs
 ---------
 pods [] [] [get]`,
      ],
      [
        "describe rolebinding rb1",
        `
Name: rb1
Labels: <none>
Annotations: <none>
Role:
 Kind: Role
 Name: r1
Subjects:
 Kind Name Namespace
 ----
 User jane`,
      ],
      [
        "get rolebinding -o wide",
        `
NAME ROLE AGE USERS GROUPS SERVICEACCOUNTS
rb1 Role/r1 AGE jane`,
      ],
      ["auth can-i get pods --as=jane", "yes"],
      [
        "auth can-i delete pods --as=jane",
        `
no
exit 1`,
      ],
      [
        "auth can-i get pods --as=joe",
        `
no
exit 1`,
      ],
      [
        "get secrets --as=jane",
        `
Error from server (Forbidden): secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" in the namespace "NAMESPACE"
exit 1`,
      ],
    ],
  },
  {
    name: "reads and writes objects of custom kinds",
    steps: [
      ["create -f crd.json", "customresourcedefinition.apiextensions.k8s.io/gears.NAMESPACE.example.com created"],
      [
        "wait crd gears.NAMESPACE.example.com --for=condition=Established --timeout=5s",
        "customresourcedefinition.apiextensions.k8s.io/gears.NAMESPACE.example.com condition met",
      ],
      ["create -f gear.json", "gear.NAMESPACE.example.com/g created"],
      [
        "create -f blunt.json",
        `
The Gear "blunt" is invalid: spec.teeth: Invalid value: 1: spec.teeth in body should be greater than or equal to 3
exit 1`,
      ],
      [
        "get gears",
        `
NAME TEETH
g 5`,
      ],
      [
        "get gr g -o yaml",
        `
apiVersion: NAMESPACE.example.com/v1
kind: Gear
metadata:
 creationTimestamp: "TIME"
 generation: 1
 name: g
 namespace: NAMESPACE
 resourceVersion: "N"
 uid: UID
spec:
 replicas: 1
 teeth: 5`,
      ],
      [
        "describe gear g",
        `
Name: g
Namespace: NAMESPACE
Labels: <none>
Annotations: <none>
API Version: NAMESPACE.example.com/v1
Kind: Gear
Metadata:
 Creation Timestamp: TIME
 Generation: 1
 Resource Version: N
 UID: UID
Spec:
 Replicas: 1
 Teeth: 5
Events: <none>`,
      ],
      [
        "explain gears.spec",
        `
GROUP: NAMESPACE.example.com
KIND: Gear
VERSION: v1

FIELD: spec <Object>


DESCRIPTION:
 What is wanted.

FIELDS:
 parts <[]string>
 <no description>

 replicas <integer>
 <no description>

 teeth <integer> -required-
 How many teeth.`,
      ],
      [
        "explain gears.spec.teeth",
        `
GROUP: NAMESPACE.example.com
KIND: Gear
VERSION: v1

FIELD: teeth <integer>


DESCRIPTION:
 How many teeth.`,
      ],
      ["scale gear g --replicas=4", "gear.NAMESPACE.example.com/g scaled"],
      ["get gr g -o jsonpath={.spec.replicas}", "4"],
      ['patch gear g --type=merge -p {"spec":{"teeth":9}}', "gear.NAMESPACE.example.com/g patched"],
      [
        'patch gear g -p {"spec":{"teeth":9}}',
        `
error: application/strategic-merge-patch+json is not supported by NAMESPACE.example.com/v1, Kind=Gear: the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml
exit 1`,
      ],
      [
        'patch gear g --subresource=status --type=merge -p {"status":{"replicas":2}}',
        "gear.NAMESPACE.example.com/g patched",
      ],
      [
        "apply --server-side -f gear.json",
        `
error: Apply failed with 2 conflicts: conflicts with "kubectl" with subresource "scale" using NAMESPACE.example.com/v1:
- .spec.replicas
conflicts with "kubectl-patch" using NAMESPACE.example.com/v1:
- .spec.teeth
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
      ["delete gear g", 'gear.NAMESPACE.example.com "g" deleted'],
      [
        "delete crd gears.NAMESPACE.example.com",
        'customresourcedefinition.apiextensions.k8s.io "gears.NAMESPACE.example.com" deleted',
      ],
    ],
  },
  {
    name: "shows its namespace, its events and the health of the server",
    steps: [
      ["get ns NAMESPACE -o jsonpath={.status.phase}", "Active"],
      [
        "describe ns NAMESPACE",
        `
Name: NAMESPACE
Labels: kubernetes.io/metadata.name=NAMESPACE
Annotations: <none>
Status: Active

No resource quota.

No LimitRange resource.`,
      ],
      ["get events", "No resources found in NAMESPACE namespace."],
      ["get --raw /healthz", "ok"],
      ["get pods", "No resources found in NAMESPACE namespace."],
      ["get cm -o name --chunk-size=1 -l none=x", ""],
    ],
  },
];
