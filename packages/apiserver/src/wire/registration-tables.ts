// Fields of apiregistration.k8s.io/v1, in the form of the generated tables. Source: k8s.io/kube-aggregator,
// apiregistration/v1, generated.proto and types.go.

/**
 * By struct, its fields: `name=NUMBER:TYPE`, with `[]` for a list, `*` for a pointer and `!` for one that JSON always
 * has.
 */
export const REGISTRATION_TABLES: Readonly<Record<string, string>> = {
  "apiregistration.APIService":
    "kind=0:string apiVersion=0:string metadata=1:meta.ObjectMeta spec=2:apiregistration.APIServiceSpec status=3:apiregistration.APIServiceStatus",
  "apiregistration.APIServiceCondition":
    "type=1:string! status=2:string! lastTransitionTime=3:Time reason=4:string message=5:string",
  "apiregistration.APIServiceSpec":
    "service=1:apiregistration.ServiceReference* group=2:string version=3:string insecureSkipTLSVerify=4:bool caBundle=5:bytes groupPriorityMinimum=7:int32! versionPriority=8:int32!",
  "apiregistration.APIServiceStatus": "conditions=1:[]apiregistration.APIServiceCondition",
  "apiregistration.ServiceReference": "namespace=1:string name=2:string port=3:int32*",
};
