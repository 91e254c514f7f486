// Written by scripts/wire-tables.ts from the published Kubernetes API types. Do not edit.
// struct: "name=number:type…"; [] list, {} map of strings, ~ part of the struct itself,
// * a pointer: absent differs from its zero value, ! written even when empty.

export const DEFINITION_TABLES: Readonly<Record<string, string>> = {
  "definition.CustomResourceColumnDefinition": "name=1:string! type=2:string! format=3:string description=4:string priority=5:int32 jsonPath=6:string!",
  "definition.CustomResourceConversion": "strategy=1:string! webhook=2:definition.WebhookConversion*",
  "definition.CustomResourceDefinition": "kind=0:string apiVersion=0:string metadata=1:meta.ObjectMeta spec=2:definition.CustomResourceDefinitionSpec! status=3:definition.CustomResourceDefinitionStatus",
  "definition.CustomResourceDefinitionCondition": "type=1:string! status=2:string! lastTransitionTime=3:Time reason=4:string message=5:string",
  "definition.CustomResourceDefinitionNames": "plural=1:string! singular=2:string shortNames=3:[]string kind=4:string! listKind=5:string categories=6:[]string",
  "definition.CustomResourceDefinitionSpec": "group=1:string! names=3:definition.CustomResourceDefinitionNames! scope=4:string! versions=7:[]definition.CustomResourceDefinitionVersion! conversion=9:definition.CustomResourceConversion* preserveUnknownFields=10:bool",
  "definition.CustomResourceDefinitionStatus": "conditions=1:[]definition.CustomResourceDefinitionCondition! acceptedNames=2:definition.CustomResourceDefinitionNames! storedVersions=3:[]string!",
  "definition.CustomResourceDefinitionVersion": "name=1:string! served=2:bool! storage=3:bool! deprecated=7:bool deprecationWarning=8:string* schema=4:definition.CustomResourceValidation* subresources=5:definition.CustomResourceSubresources* additionalPrinterColumns=6:[]definition.CustomResourceColumnDefinition selectableFields=9:[]definition.SelectableField",
  "definition.CustomResourceSubresourceScale": "specReplicasPath=1:string! statusReplicasPath=2:string! labelSelectorPath=3:string*",
  "definition.CustomResourceSubresourceStatus": "",
  "definition.CustomResourceSubresources": "status=1:definition.CustomResourceSubresourceStatus* scale=2:definition.CustomResourceSubresourceScale*",
  "definition.CustomResourceValidation": "openAPIV3Schema=1:definition.JSONSchemaProps*",
  "definition.ExternalDocumentation": "description=1:string url=2:string",
  "definition.JSONSchemaProps": "id=1:string $schema=2:string $ref=3:string* description=4:string type=5:string format=6:string title=7:string default=8:Json* maximum=9:double* exclusiveMaximum=10:bool minimum=11:double* exclusiveMinimum=12:bool maxLength=13:int64* minLength=14:int64* pattern=15:string maxItems=16:int64* minItems=17:int64* uniqueItems=18:bool multipleOf=19:double* enum=20:[]Json maxProperties=21:int64* minProperties=22:int64* required=23:[]string items=24:SchemaOrArray* allOf=25:[]definition.JSONSchemaProps oneOf=26:[]definition.JSONSchemaProps anyOf=27:[]definition.JSONSchemaProps not=28:definition.JSONSchemaProps* properties=29:{}definition.JSONSchemaProps additionalProperties=30:SchemaOrBool* patternProperties=31:{}definition.JSONSchemaProps dependencies=32:{}SchemaOrStrings additionalItems=33:SchemaOrBool* definitions=34:{}definition.JSONSchemaProps externalDocs=35:definition.ExternalDocumentation* example=36:Json* nullable=37:bool x-kubernetes-preserve-unknown-fields=38:bool* x-kubernetes-embedded-resource=39:bool x-kubernetes-int-or-string=40:bool x-kubernetes-list-map-keys=41:[]string x-kubernetes-list-type=42:string* x-kubernetes-map-type=43:string* x-kubernetes-validations=44:[]definition.ValidationRule",
  "definition.SelectableField": "jsonPath=1:string!",
  "definition.ServiceReference": "namespace=1:string! name=2:string! path=3:string* port=4:int32*",
  "definition.ValidationRule": "rule=1:string! message=2:string messageExpression=3:string reason=4:string* fieldPath=5:string optionalOldSelf=6:bool*",
  "definition.WebhookClientConfig": "url=3:string* service=1:definition.ServiceReference* caBundle=2:bytes",
  "definition.WebhookConversion": "clientConfig=2:definition.WebhookClientConfig* conversionReviewVersions=3:[]string!",
};
