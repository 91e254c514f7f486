/** A request that is refused; NS represents the namespace's path, NAMESPACE its name. */
export interface WireRow {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  /** Content-Type; JSON when it is not given. */
  readonly type?: string;
  readonly accept?: string;
  readonly code: number;
  readonly reason?: string;
  readonly message: string;
}

export const WIRE_ROWS: readonly WireRow[] = [
  {
    name: "a field given twice, strictly",
    method: "POST",
    path: "NS/configmaps?fieldValidation=Strict",
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d1"},"data":{"a":"1","a":"2"}}',
    code: 400,
    reason: "BadRequest",
    message:
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data.a"',
  },
  {
    name: "a field given twice and one that is not known",
    method: "POST",
    path: "NS/configmaps?fieldValidation=Strict",
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d4"},"x":1,"data":{"a":"1","a":"2","a":"3"}}',
    code: 400,
    reason: "BadRequest",
    message:
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "x", duplicate field "data.a"',
  },
  {
    name: "fields given twice, deep down",
    method: "POST",
    path: "NS/services?fieldValidation=Strict",
    body: '{"apiVersion":"v1","kind":"Service","metadata":{"name":"s","name":"s"},"spec":{"clusterIP":"None","ports":[{"port":1,"port":2}]}}',
    code: 400,
    reason: "BadRequest",
    message:
      'Service in version "v1" cannot be handled as a Service: strict decoding error: duplicate field "metadata.name", duplicate field "spec.ports[0].port"',
  },
  {
    name: "a YAML key given twice, strictly",
    method: "POST",
    path: "NS/configmaps?fieldValidation=Strict",
    body: 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: d5s\ndata:\n  a: "1"\n  a: "2"\n',
    type: "application/yaml",
    code: 400,
    reason: "BadRequest",
    message:
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n  line 7: key "a" already set in map',
  },
  {
    name: "a create without a namespace",
    method: "POST",
    path: "/api/v1/configmaps",
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"zz"}}',
    code: 405,
    reason: "MethodNotAllowed",
    message: "the server does not allow this method on the requested resource",
  },
  {
    name: "a PUT of a collection",
    method: "PUT",
    path: "NS/configmaps",
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"zz"}}',
    code: 405,
    reason: "MethodNotAllowed",
    message: "the server does not allow this method on the requested resource",
  },
  {
    name: "a patch of a collection",
    method: "PATCH",
    path: "NS/configmaps",
    body: "{}",
    type: "application/merge-patch+json",
    code: 405,
    reason: "MethodNotAllowed",
    message: "the server does not allow this method on the requested resource",
  },
  {
    name: "an answer in XML",
    method: "GET",
    path: "NS/configmaps/a",
    accept: "application/xml",
    code: 406,
    reason: "NotAcceptable",
    message:
      "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf",
  },
  {
    name: "an answer in CBOR",
    method: "GET",
    path: "NS/configmaps/a",
    accept: "application/cbor",
    code: 406,
    reason: "NotAcceptable",
    message:
      "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf",
  },
  {
    name: "a Table of a version that is none",
    method: "GET",
    path: "NS/configmaps/a",
    accept: "application/json;as=Table;v=v2;g=meta.k8s.io",
    code: 406,
    reason: "NotAcceptable",
    message:
      "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
  },
  {
    name: "a transform that is none",
    method: "GET",
    path: "NS/configmaps/a",
    accept: "application/json;as=Bogus;v=v1;g=meta.k8s.io",
    code: 406,
    reason: "NotAcceptable",
    message:
      "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
  },
  {
    name: "one object as a list of metadata",
    method: "GET",
    path: "NS/configmaps/a",
    accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    code: 406,
    reason: "NotAcceptable",
    message: "you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)",
  },
  {
    name: "an includeObject that is none",
    method: "GET",
    path: "NS/configmaps/a?includeObject=Bogus",
    accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
    code: 400,
    reason: "BadRequest",
    message:
      "Unable to convert to Table as requested: includeObject: Invalid value: \"Bogus\": must be 'Metadata', 'Object', 'None', or empty",
  },
  {
    name: "a body in XML",
    method: "POST",
    path: "NS/configmaps",
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c1"}}',
    type: "application/xml",
    code: 415,
    reason: "UnsupportedMediaType",
    message:
      "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
  },
  {
    name: "a body of plain text",
    method: "POST",
    path: "NS/configmaps",
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c3"}}',
    type: "text/plain",
    code: 415,
    reason: "UnsupportedMediaType",
    message:
      "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
  },
  {
    name: "a body in CBOR",
    method: "POST",
    path: "NS/configmaps",
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c4"}}',
    type: "application/cbor",
    code: 415,
    reason: "UnsupportedMediaType",
    message:
      "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
  },
  {
    name: "a patch of type JSON",
    method: "PATCH",
    path: "NS/configmaps/a",
    body: "{}",
    type: "application/json",
    code: 415,
    reason: "UnsupportedMediaType",
    message: "415: Unsupported Media Type",
  },
  {
    name: "a patch of type YAML",
    method: "PATCH",
    path: "NS/configmaps/a",
    body: "{}",
    type: "application/yaml",
    code: 415,
    reason: "UnsupportedMediaType",
    message: "415: Unsupported Media Type",
  },
  {
    name: "a patch of no type",
    method: "PATCH",
    path: "NS/configmaps/a",
    body: "{}",
    type: "",
    code: 415,
    reason: "UnsupportedMediaType",
    message: "415: Unsupported Media Type",
  },
  {
    name: "a create without a body",
    method: "POST",
    path: "NS/configmaps",
    body: "",
    type: "application/json",
    code: 400,
    reason: "BadRequest",
    message:
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
  },
  {
    name: "JSON that ends too early",
    method: "POST",
    path: "NS/configmaps",
    body: "{",
    type: "application/json",
    code: 400,
    reason: "BadRequest",
    message:
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input ({)",
  },
  {
    name: "text that is not JSON",
    method: "POST",
    path: "NS/configmaps",
    body: "hello",
    type: "application/json",
    code: 400,
    reason: "BadRequest",
    message:
      "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: invalid character 'h' looking for beginning of value (68656c6c6f)",
  },
  {
    name: "a list where an object should be",
    method: "POST",
    path: "NS/configmaps",
    body: "[]",
    type: "application/json",
    code: 400,
    reason: "BadRequest",
    message:
      'the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (5b5d)',
  },
  {
    name: "a string where an object should be",
    method: "POST",
    path: "NS/configmaps",
    body: '"x"',
    type: "application/json",
    code: 400,
    reason: "BadRequest",
    message:
      'the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" } (227822)',
  },
  {
    name: "something after the JSON",
    method: "POST",
    path: "NS/configmaps",
    body: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"tr"}}garbage',
    type: "application/json",
    code: 400,
    reason: "BadRequest",
    message:
      'the object provided is unrecognized (must be of type ConfigMap): couldn\'t get version/kind; json parse error: invalid character \'g\' after top-level value ({"apiVersion":"v1","kind":"Con ...)',
  },
  {
    name: "a patch without a body",
    method: "PATCH",
    path: "NS/configmaps/a",
    body: "",
    type: "application/merge-patch+json",
    code: 400,
    reason: "BadRequest",
    message: "error decoding patch: unexpected end of JSON input",
  },
  {
    name: "a patch that ends too early",
    method: "PATCH",
    path: "NS/configmaps/a",
    body: "{",
    type: "application/merge-patch+json",
    code: 400,
    reason: "BadRequest",
    message: "error decoding patch: unexpected end of JSON input",
  },
  {
    name: "a merge patch that is a list",
    method: "PATCH",
    path: "NS/configmaps/a",
    body: "[]",
    type: "application/merge-patch+json",
    code: 400,
    reason: "BadRequest",
    message: "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
  },
];
