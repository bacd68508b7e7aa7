// The calls of @kubernetes/client-node: each row is a line of JSON, its title and what the program saw.
import {createRequire} from 'module';
import {pathToFileURL} from 'url';
const k8s = await import(pathToFileURL(createRequire(process.env.CLIENTS + '/').resolve('@kubernetes/client-node')));
const config = new k8s.KubeConfig();
config.loadFromFile(process.env.KUBECONFIG);
const [core, apps, coordination, custom, definitions] = [k8s.CoreV1Api, k8s.AppsV1Api, k8s.CoordinationV1Api, k8s.CustomObjectsApi, k8s.ApiextensionsV1Api]
  .map((api) => config.makeApiClient(api));
const namespace = 'js';
const rows = (title, value) => console.log(JSON.stringify([title, value]));
const row = async (title, call) => {
  try {
    rows(title, {value: await call()});
  } catch (e) {
    rows(title, e.code ? {code: e.code, body: typeof e.body === 'string' ? JSON.parse(e.body) : e.body} : {error: String(e)});
  }
};
const wait = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
const map = (name, data = {k: 'v'}, labels = {it: 'yes'}) => ({metadata: {name, labels}, data});
const as = (type) => k8s.setHeaderOptions('Content-Type', type);

await core.createNamespace({body: {metadata: {name: namespace}}});
await row('create', () => core.createNamespacedConfigMap({namespace, body: map('a')}));
await row('create again', () => core.createNamespacedConfigMap({namespace, body: map('a')}));
await row('create, dry run', () => core.createNamespacedConfigMap({namespace, body: map('dry'), dryRun: 'All'}));
await row('read', () => core.readNamespacedConfigMap({namespace, name: 'a'}));
await row('read missing', () => core.readNamespacedConfigMap({namespace, name: 'missing'}));
await row('replace', async () => core.replaceNamespacedConfigMap({namespace, name: 'a', body: {...await core.readNamespacedConfigMap({namespace, name: 'a'}), data: {k: '2'}}}));
await row('replace, old version', () => core.replaceNamespacedConfigMap({namespace, name: 'a', body: {...map('a'), metadata: {name: 'a', resourceVersion: '1'}}}));
await row('patch without a type', () => core.patchNamespacedConfigMap({namespace, name: 'a', body: {data: {p: '1'}}}));
await row('patch, a list without a type', () => core.patchNamespacedConfigMap({namespace, name: 'a', body: [{op: 'add', path: '/data/l', value: '1'}]}));
for (const [name, type] of Object.entries(k8s.PatchStrategy)) {
  const list = name === 'JsonPatch';
  await row('patch, ' + name, () => core.patchNamespacedConfigMap(
    {namespace, name: 'a', fieldManager: 'js', force: name === 'ServerSideApply' ? true : undefined,
      body: list ? [{op: 'add', path: '/data/j', value: '1'}] : {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'a'}, data: {[name]: '1'}}}, as(type)));
}
await row('apply, conflict', () => core.patchNamespacedConfigMap({namespace, name: 'a', fieldManager: 'other',
  body: {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'a'}, data: {ServerSideApply: '2'}}}, as(k8s.PatchStrategy.ServerSideApply)));
for (let number = 0; number < 3; number++) {
  await core.createNamespacedConfigMap({namespace, body: map('l' + number)});
}
let page;
await row('list, first page', async () => page = await core.listNamespacedConfigMap({namespace, limit: 2, labelSelector: 'it=yes'}));
await row('list, second page', () => core.listNamespacedConfigMap({namespace, limit: 2, labelSelector: 'it=yes', _continue: page.metadata._continue}));
await row('list, field selector', () => core.listNamespacedConfigMap({namespace, fieldSelector: 'metadata.name=l1'}));
await row('list, unknown field', () => core.listNamespacedConfigMap({namespace, fieldSelector: 'spec.x=l1'}));

const watch = async (title, query, act, count) => {
  const seen = [];
  let ended;
  const end = new Promise((done) => ended = done);
  const aborted = await new k8s.Watch(config).watch(`/api/v1/namespaces/${namespace}/configmaps`, query,
    (type, object) => { seen.push([type, object.metadata?.name ?? object]); if (seen.length === count) aborted?.abort(); },
    (error) => ended(error === null ? 'null' : error === undefined ? 'undefined' : error.name + (error.statusCode ? ' ' + error.statusCode : '')));
  await wait(0.3);
  await act();
  const how = await Promise.race([end, wait(5).then(() => 'not')]);
  aborted.abort();
  rows(title, {seen, end: how});
};
await watch('watch', {labelSelector: 'it=yes', timeoutSeconds: 2}, () => core.deleteNamespacedConfigMap({namespace, name: 'l2'}), 99);
await watch('watch, bookmarks and initial events', {labelSelector: 'it=yes', timeoutSeconds: 2, allowWatchBookmarks: true, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan'}, () => {}, 99);
await watch('watch, too old', {labelSelector: 'it=yes', resourceVersion: '1', timeoutSeconds: 1}, () => {}, 99);
await watch('watch, invalid version', {resourceVersion: 'x'}, () => {}, 99);

{
  const seen = [];
  const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () => core.listNamespacedConfigMap({namespace, labelSelector: 'it=yes'}), 'it=yes');
  for (const event of ['add', 'update', 'delete', 'error', 'connect']) {
    informer.on(event, (object) => seen.push([event, object?.metadata?.name]));
  }
  await informer.start();
  await wait(0.5);
  await core.patchNamespacedConfigMap({namespace, name: 'l1', body: {data: {k: 'w'}}}, as(k8s.PatchStrategy.MergePatch));
  await core.createNamespacedConfigMap({namespace, body: map('l3')});
  await core.deleteNamespacedConfigMap({namespace, name: 'l0'});
  await wait(0.7);
  await informer.stop();
  rows('informer', seen.sort((one, other) => String(one).localeCompare(String(other))));
}
const template = {metadata: {labels: {app: 'd'}}, spec: {containers: [{name: 'c', image: 'x', command: ['sleep', '1']}]}};
await row('deployment', () => apps.createNamespacedDeployment({namespace, body: {metadata: {name: 'd'}, spec: {replicas: 0, paused: true, selector: {matchLabels: {app: 'd'}}, template}}}));
await wait(0.7);
let scale;
await row('scale, read', async () => scale = await apps.readNamespacedDeploymentScale({namespace, name: 'd'}));
await row('scale, replace', () => apps.replaceNamespacedDeploymentScale({namespace, name: 'd', body: {...scale, spec: {replicas: 0}}}));
await row('scale, patch', () => apps.patchNamespacedDeploymentScale({namespace, name: 'd', body: {spec: {replicas: 1}}}, as(k8s.PatchStrategy.MergePatch)));
await row('scale, old version', () => apps.replaceNamespacedDeploymentScale({namespace, name: 'd', body: scale}));
await row('invalid', () => core.createNamespacedConfigMap({namespace, body: map('UPPER')}));
await row('lease', () => coordination.createNamespacedLease({namespace, body: {metadata: {name: 'l'}, spec: {holderIdentity: 'a', acquireTime: new k8s.V1MicroTime('2026-01-01T00:00:00.123Z'), renewTime: new k8s.V1MicroTime('2026-01-01T00:00:00Z')}}}));
await row('lease, read and replaced', async () => coordination.replaceNamespacedLease({namespace, name: 'l', body: await coordination.readNamespacedLease({namespace, name: 'l'})}));
const group = 'js.example.org', plural = 'toys';
await row('definition', () => definitions.createCustomResourceDefinition({body: {metadata: {name: 'toys.js.example.org'}, spec: {group, scope: 'Namespaced', names: {plural, singular: 'toy', kind: 'Toy'},
  versions: [{name: 'v1', served: true, storage: true, schema: {openAPIV3Schema: {type: 'object', 'x-kubernetes-preserve-unknown-fields': true}}}]}}}));
await wait(2);
await row('custom, create', () => custom.createNamespacedCustomObject({group, version: 'v1', namespace, plural, body: {apiVersion: group + '/v1', kind: 'Toy', metadata: {name: 't'}, spec: {a: 1}}}));
await row('custom, patch without a type', () => custom.patchNamespacedCustomObject({group, version: 'v1', namespace, plural, name: 't', body: {spec: {a: 2}}}));
await row('custom, merge patch', () => custom.patchNamespacedCustomObject({group, version: 'v1', namespace, plural, name: 't', body: {spec: {a: 2}}}, as(k8s.PatchStrategy.MergePatch)));
await row('custom, list', () => custom.listNamespacedCustomObject({group, version: 'v1', namespace, plural}));
const any = k8s.KubernetesObjectApi.makeApiClient(config);
await row('any object, create', () => any.create({apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'any', namespace}, data: {a: 'b'}}));
await row('any object, patch', () => any.patch({apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'any', namespace}, data: {a: 'c'}}));
await row('any object, apply', () => any.patch({apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'any', namespace}, data: {b: 'c'}}, undefined, undefined, 'js', true, k8s.PatchStrategy.ServerSideApply));
await row('any object, list', async () => (await any.list('v1', 'ConfigMap', namespace)).items.map((one) => one.metadata.name).filter((name) => !name.endsWith('.crt')));
await row('any object, delete', () => any.delete({apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'any', namespace}}));
await row('delete', () => core.deleteNamespacedConfigMap({namespace, name: 'l1', body: {preconditions: {uid: '00000000-0000-0000-0000-000000000000'}}}));
await row('delete a collection', async () => { const answer = await core.deleteCollectionNamespacedConfigMap({namespace, labelSelector: 'it=yes'}); return {kind: answer.kind, items: answer.items?.length}; });
await custom.deleteNamespacedCustomObject({group, version: 'v1', namespace, plural, name: 't'});
await definitions.deleteCustomResourceDefinition({name: 'toys.js.example.org'});
process.exit(0);
