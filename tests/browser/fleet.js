// A run over a thousand clusters, as its hub would have it.

const start = Date.parse('2026-03-02T08:00:00Z');
const time = (minutes) => new Date(start + minutes * 60_000).toISOString().replace('.000', '');
const condition = (type, reason, minutes, status = 'True') => ({
  type,
  reason,
  status,
  lastTransitionTime: time(minutes),
  observedGeneration: 1,
  message: reason,
});

const cluster = (name, from, until) => ({
  clusterName: name,
  conditions: [
    ...(from === undefined ? [] : [condition('Started', 'ClusterUpdatingStarted', from)]),
    ...(until === undefined ? [] : [condition('Succeeded', 'ClusterUpdatingSucceeded', until)]),
  ],
});

// 100 clusters are done, 400 of 900 too, ten are in flight, one of them for too long.
export function fleet() {
  const slots = 10;
  const canary = Array.from({ length: 100 }, (_, at) => {
    const wave = Math.floor(at / slots);
    return cluster(`canary-${String(at).padStart(4, '0')}`, wave * 2, wave * 2 + 2);
  });
  const prod = Array.from({ length: 900 }, (_, at) => {
    const name = `prod-${String(at).padStart(4, '0')}`;
    const wave = Math.floor(at / slots);
    if (at < 400) return cluster(name, 50 + wave * 2, 52 + wave * 2);
    if (at < 410) return cluster(name, 130 + (at === 400 ? 0 : 8));
    return cluster(name);
  });
  const run = {
    apiVersion: 'placement.kubernetes-fleet.io/v1beta1',
    kind: 'ClusterStagedUpdateRun',
    metadata: { name: 'everywhere', generation: 1, creationTimestamp: time(-1) },
    spec: { placementName: 'shop', stagedRolloutStrategyName: 'rings', state: 'Run' },
    status: {
      resourceSnapshotIndexUsed: '3',
      policyObservedClusterCount: 1000,
      conditions: [
        condition('Initialized', 'UpdateRunInitializedSuccessfully', -1),
        condition('Progressing', 'UpdateRunStarted', 0),
      ],
      stagedUpdateStrategySnapshot: {
        stages: [
          { name: 'canary', maxConcurrency: slots, afterStageTasks: [{ type: 'Approval' }] },
          { name: 'prod', maxConcurrency: slots },
        ],
      },
      stagesStatus: [
        {
          stageName: 'canary',
          startTime: time(0),
          endTime: time(49),
          clusters: canary,
          conditions: [condition('Succeeded', 'StageUpdatingSucceeded', 49)],
          afterStageTaskStatus: [
            {
              type: 'Approval',
              approvalRequestName: 'everywhere-after-canary',
              conditions: [
                condition('ApprovalRequestCreated', 'StageTaskApprovalRequestCreated', 20),
                condition('ApprovalRequestApproved', 'StageTaskApprovalRequestApproved', 49),
              ],
            },
          ],
        },
        {
          stageName: 'prod',
          startTime: time(50),
          clusters: prod,
          conditions: [condition('Progressing', 'StageUpdatingStarted', 50)],
        },
      ],
    },
  };
  return { now: time(140), objects: { apiVersion: 'v1', kind: 'List', items: [run] } };
}
