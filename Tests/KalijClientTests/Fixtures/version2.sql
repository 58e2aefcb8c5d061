-- A database of schema version 2, dumped from the directory that `kalij demo --kills 2 --messages 6 --seed 5 --keep` left.
-- Never changed: later versions must open it.
PRAGMA application_id=1264675945;
PRAGMA user_version=2;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE fence(id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL,
    role TEXT NOT NULL, pid INTEGER NOT NULL, since INTEGER NOT NULL, let_go INTEGER NOT NULL);
INSERT INTO fence VALUES(1,6,'main',922,1795369975256,1);
CREATE TABLE account(
    id INTEGER PRIMARY KEY,
    jid TEXT NOT NULL UNIQUE,
    resource TEXT NOT NULL,
    server TEXT,                    -- HOST:PORT given by the user instead of SRV records
    direct_tls INTEGER NOT NULL,
    ca_file TEXT,
    mechanism TEXT NOT NULL,        -- SASL mechanism of the login; nothing weaker is accepted later
    keys BLOB,                      -- SCRAM keys (CBOR), or
    password TEXT,                  -- the password, where the mechanism needs it
    created_at INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'active', -- 'leaving', 'removing': not yet done; 'out': logged out
    history_days INTEGER NOT NULL DEFAULT 14);
INSERT INTO account VALUES(1,'alice@localhost','kalij.k5pmh3','127.0.0.1:29330',0,'/tmp/lead/kalij-lab-e0kwjJ/prosody/certs/localhost.crt','SCRAM-SHA-1',X'a56473616c747830597a4d344f4759795a446b74596a646a4e5330304d6a59304c5467785a4455744e54686d4e6a4d304f4449334e32526869636c69656e744b6579781c76567557357a65486a425662413430427a367a6835574c5062356b3d696d656368616e69736d6b534352414d2d5348412d31697365727665724b6579781c6f39312f385041673841365473484f49436a3271755969314e2b733d6a697465726174696f6e73192710',NULL,1795369973890,'active',14);
CREATE TABLE session(
    account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
    number INTEGER NOT NULL,        -- grows with each bind
    carbons INTEGER NOT NULL DEFAULT 0, -- whether the server copies what other clients of the account see
    resume_id TEXT,                 -- NULL: nothing to resume
    jid TEXT,                       -- the full address that the server bound
    handled INTEGER NOT NULL,       -- inbound stanzas handled, modulo 2^32
    acknowledged INTEGER NOT NULL,  -- outbound stanzas acknowledged by the server, modulo 2^32
    position INTEGER NOT NULL,      -- the last order number given to a message
    holding INTEGER NOT NULL DEFAULT 0, -- whether queued messages wait until the archive has been read
    archive INTEGER NOT NULL,       -- whether the server archives this account's messages (XEP-0313)
    online_at INTEGER,
    stamps INTEGER NOT NULL DEFAULT 0, largest_stanza INTEGER, subscribers INTEGER NOT NULL DEFAULT 0, messages INTEGER NOT NULL DEFAULT 0);
INSERT INTO session VALUES(1,1,1,'1sknWiQUlL3R','alice@localhost/kalij.k5pmh3',264,35,272,0,1,1795369975278,1,NULL,0,81);
CREATE TABLE queue(
    -- Never given twice: a connection knows what it has written by the last id.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    message INTEGER REFERENCES message(id),
    request TEXT,                   -- the id of the request that it asks
    stanza BLOB NOT NULL,
    lasting INTEGER NOT NULL DEFAULT 0, blamed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE message(
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    direction TEXT NOT NULL,        -- 'in' or 'out'
    conversation TEXT NOT NULL,     -- the bare address of the other side
    position INTEGER NOT NULL,      -- the order in which messages are shown
    archive TEXT NOT NULL,          -- whose archive stanza_id belongs to; '' is the account's own
    stanza_id TEXT,
    message_id TEXT NOT NULL,       -- the stanza's id, '' if it had none
    origin_id TEXT,
    sender TEXT NOT NULL,
    recipient TEXT NOT NULL,
    type TEXT NOT NULL,
    body TEXT,
    sent_at INTEGER NOT NULL,
    received_at INTEGER,
    state TEXT,                     -- of 'out': 'queued', 'sent', 'acked', 'failed'
    error TEXT,
    anchor TEXT,                    -- newest known archive id when the bytes first left
    settled INTEGER NOT NULL DEFAULT 1,  -- 0: sent in a session that was lost, outcome unknown
    catchup INTEGER NOT NULL DEFAULT 0);
INSERT INTO message VALUES(1,1,'in','bob@localhost',1,'','66c598a3-c8b3-4f26-8e96-231ca251ab2c','b47f0a12a0f648db9edb83834c8fcce8',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 1',1795369974000,1795369974312,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(2,1,'in','bob@localhost',2,'','21a90602-64ae-43b2-8e86-0b52e30148f6','892051f67478436b8539f2435d6c9d7e',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 2',1795369974000,1795369974312,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(3,1,'in','bob@localhost',3,'','95fb283d-dd3c-42eb-8e07-d720da1e7dc8','dc25831ad2234f068afcdeb1e93fbb93',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 3',1795369974000,1795369974312,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(4,1,'in','bob@localhost',4,'','44e76035-1e06-4cce-a020-110656ca1fcf','ba7ae451c5914239a7a7b7fdcedafd86',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 4',1795369974000,1795369974312,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(5,1,'in','bob@localhost',5,'','a4505da7-0a7c-455c-bdae-5906c3e6da7d','07a88b200a3e436ea6d9be2f8f413e1c',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 5',1795369974000,1795369974325,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(6,1,'out','bob@localhost',40,'','653380d4-4a3c-4454-a96d-07e29d0bd37a','6599a4f8-f775-4b71-9af0-35a968b6a675','6599a4f8-f775-4b71-9af0-35a968b6a675','alice@localhost','bob@localhost','chat','r 1',1795369974000,NULL,'acked',NULL,'a4505da7-0a7c-455c-bdae-5906c3e6da7d',1,4);
INSERT INTO message VALUES(7,1,'in','bob@localhost',7,'','93b1a1d8-afe8-46b4-9506-58f6095580eb','38a83716268947748f6f5f971fab6d6a',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 6',1795369974000,1795369974336,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(8,1,'in','bob@localhost',41,'','a1373259-c18c-4821-817f-db857e66de62','93c732a35d33420bb9df50131893db37',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 7',1795369974000,1795369974348,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(9,1,'out','bob@localhost',43,'','b1375982-75c2-4c76-a9f7-860646c333b5','6b41690c-a438-424c-af9a-f511882f95d0','6b41690c-a438-424c-af9a-f511882f95d0','alice@localhost','bob@localhost','chat','r 2',1795369974000,NULL,'acked',NULL,'a1373259-c18c-4821-817f-db857e66de62',1,4);
INSERT INTO message VALUES(10,1,'in','bob@localhost',42,'','e20a71f1-c145-424b-8efa-ad3248ef2388','58317c5ddfbf4c8f9df945f38ae472b9',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 8',1795369974000,1795369974371,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(11,1,'in','bob@localhost',44,'','ba9c4e72-da9e-4b65-ad82-bc90b293ef8f','fbd97ce72c204afc9b4bc23a1e286a58',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 9',1795369974000,1795369974386,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(12,1,'out','bob@localhost',46,'','6455b88f-a36b-42fc-9fc7-cc5279b3a424','85386192-3ab4-42b5-a18c-66e04de4b286','85386192-3ab4-42b5-a18c-66e04de4b286','alice@localhost','bob@localhost','chat','r 3',1795369974000,NULL,'acked',NULL,'ba9c4e72-da9e-4b65-ad82-bc90b293ef8f',1,4);
INSERT INTO message VALUES(13,1,'in','bob@localhost',45,'','e6596922-9d9c-40a0-8128-1738ba759122','33d06a51602a4c1d95200b5baf49f848',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 10',1795369974000,1795369974401,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(14,1,'out','bob@localhost',48,'','fa75b7e0-64a5-4325-bb06-16a040d72fcc','bbb343c0-bc0d-4935-aeac-0db68e1d0922','bbb343c0-bc0d-4935-aeac-0db68e1d0922','alice@localhost','bob@localhost','chat','r 4',1795369974000,NULL,'acked',NULL,'e6596922-9d9c-40a0-8128-1738ba759122',1,4);
INSERT INTO message VALUES(15,1,'in','bob@localhost',47,'','619bd17f-196f-4376-aacb-a4cce37b3e5c','bbe5449918244e5fa240706aac77dfe1',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 11',1795369974000,1795369974427,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(16,1,'in','bob@localhost',49,'','a01b155a-4dca-40c3-a47c-f09475d6fea7','9389c6a94d7040c88a75eb240cfc237c',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 12',1795369974000,1795369974442,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(17,1,'in','bob@localhost',50,'','86592986-0b29-4844-9a2b-52bfbec8ab9f','22139148e9d84bbaa1ce239569a68cca',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 13',1795369974000,1795369974447,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(18,1,'in','bob@localhost',51,'','6ff41ff1-63dd-4d71-9e6f-ac46bac3bcb7','f266ffd9b90241fabb9db060a86081e5',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 14',1795369974000,1795369974465,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(19,1,'out','bob@localhost',52,'','47553807-d370-43ec-a918-6a15220c74c8','b92482ae-d670-4d8d-a280-30c27fd4ac6d','b92482ae-d670-4d8d-a280-30c27fd4ac6d','alice@localhost','bob@localhost','chat','r 5',1795369974000,NULL,'acked',NULL,'6ff41ff1-63dd-4d71-9e6f-ac46bac3bcb7',1,4);
INSERT INTO message VALUES(20,1,'in','bob@localhost',53,'','4d7bc61f-33cc-43e8-81b6-72f5864937f3','da17bd9a57124f3b86e7c404d598ca2c',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 15',1795369974000,1795369974486,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(21,1,'out','bob@localhost',55,'','0f36b860-3dfe-4492-a9fb-0ac54d846fb3','a737fedc-0166-41d6-b82a-e99aa67c6630','a737fedc-0166-41d6-b82a-e99aa67c6630','alice@localhost','bob@localhost','chat','r 6',1795369974000,NULL,'acked',NULL,'4d7bc61f-33cc-43e8-81b6-72f5864937f3',1,4);
INSERT INTO message VALUES(22,1,'in','bob@localhost',54,'','506f104c-723c-4933-8f36-bdc29bc926eb','093957b890b040feae5a57473faf2e18',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 16',1795369974000,1795369974511,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(23,1,'in','bob@localhost',56,'','a1359e19-317d-4d64-8c07-ed1402552e86','1015cde19b334da5af6caaba51da8be0',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 17',1795369974000,1795369974535,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(24,1,'in','bob@localhost',57,'','b23b2f7a-63a2-475f-8445-d7f0def6abfe','5d2df16d867a413699a73603e7db307c',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 18',1795369974000,1795369974547,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(25,1,'in','bob@localhost',58,'','74892264-6f1d-4736-ae49-ddfad570555b','af31ec122bac484dbf92e2d22ce73c3a',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 19',1795369974000,1795369974550,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(26,1,'out','bob@localhost',60,'','f48e637d-ebc2-4ca8-83a3-4fb34c37e47e','edf3069b-3f1c-4419-b587-797d78a17d5e','edf3069b-3f1c-4419-b587-797d78a17d5e','alice@localhost','bob@localhost','chat','r 7',1795369974000,NULL,'acked',NULL,'74892264-6f1d-4736-ae49-ddfad570555b',1,4);
INSERT INTO message VALUES(27,1,'out','bob@localhost',65,'','d00b6106-38ef-4f4f-a386-2a41c97617e8','43dbbcf7-7783-49a2-92dc-eb96fc247cb1','43dbbcf7-7783-49a2-92dc-eb96fc247cb1','alice@localhost','bob@localhost','chat','r 8',1795369974000,NULL,'acked',NULL,'5c3544dc-06b9-4177-845b-fff523dba2ef',1,4);
INSERT INTO message VALUES(28,1,'in','bob@localhost',59,'','ef045d26-9fe4-465e-86e0-af860f4c8698','7ca90d539ba34364a7a5b1f688b58b30',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 20',1795369974000,1795369974641,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(29,1,'in','bob@localhost',61,'','178d40d2-61b2-49d4-aa34-419bf353c7e3','e9263384a7b74c4781bd4b167a98bc31',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 21',1795369974000,1795369974642,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(30,1,'in','bob@localhost',62,'','c13fdb67-4554-4b30-879c-dfea1158f18c','20ebcd492d85450095125b6fb80b902d',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 22',1795369974000,1795369974642,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(31,1,'in','bob@localhost',63,'','913127d8-6d17-427e-ae0f-34c7a5aec0a0','5afef32339d745c8a127257337fb533d',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 23',1795369974000,1795369974642,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(32,1,'in','bob@localhost',64,'','5c3544dc-06b9-4177-845b-fff523dba2ef','99b9d06f4f1044ddb5fc71a08942e980',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 24',1795369974000,1795369974642,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(33,1,'out','bob@localhost',141,'','602e0a09-93ba-4a5c-ae8c-3a894f896280','8983ab95-06de-4eb3-ba97-503fd4ec3067','8983ab95-06de-4eb3-ba97-503fd4ec3067','alice@localhost','bob@localhost','chat','r 9',1795369974000,NULL,'acked',NULL,'5c3544dc-06b9-4177-845b-fff523dba2ef',1,4);
INSERT INTO message VALUES(34,1,'in','bob@localhost',67,'','7c8fd1b3-80ff-4f6c-b2e2-482615ade19e','c135709ac7c24e1fa31587b302f09d13',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 25',1795369974000,1795369974679,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(35,1,'in','bob@localhost',68,'','9e6745e2-d709-424f-b418-f982e4925234','af3e4c9530e0433fa9711f7202616ec8',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 26',1795369974000,1795369974679,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(36,1,'in','bob@localhost',142,'','80a4ac58-c74e-4d02-9317-7f209cb8e0bb','40c5539a8ae04cebb1f36c47e6ab9c75',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 27',1795369974000,1795369974690,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(37,1,'out','bob@localhost',144,'','d1f6e838-f109-4b00-bc73-4eac458b9313','e6a7bbb5-8ca8-49a9-b5d7-12b82b22b4a1','e6a7bbb5-8ca8-49a9-b5d7-12b82b22b4a1','alice@localhost','bob@localhost','chat','r 10',1795369974000,NULL,'acked',NULL,'80a4ac58-c74e-4d02-9317-7f209cb8e0bb',1,4);
INSERT INTO message VALUES(38,1,'in','bob@localhost',143,'','2cd8029d-4771-4014-9b97-758ec3621b9f','6cfe3564fbfe4b1b89bfa7f97773a638',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 28',1795369974000,1795369974701,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(39,1,'out','bob@localhost',146,'','7dd03045-144f-4edb-b6f5-c4f09398b002','ebc6422a-17f9-449d-9375-c0851843dbe2','ebc6422a-17f9-449d-9375-c0851843dbe2','alice@localhost','bob@localhost','chat','r 11',1795369974000,NULL,'acked',NULL,'2cd8029d-4771-4014-9b97-758ec3621b9f',1,4);
INSERT INTO message VALUES(40,1,'in','bob@localhost',145,'','dc9a212b-06ec-49d5-9c25-8b83d778785b','6acd585cdf764255b3e2dcdaa58c0bf6',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 29',1795369974000,1795369974726,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(41,1,'in','bob@localhost',147,'','6ed20e75-6ba8-45f9-b265-255c1c26dad9','8e600f57aa294e63b3282ae5a30f4d05',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 30',1795369974000,1795369974734,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(42,1,'in','bob@localhost',148,'','d6b8fc62-bfb4-4778-8e9d-8a4275a4e215','bbf88170b68c468d8c171a1e3ba7b669',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 31',1795369974000,1795369974748,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(43,1,'out','bob@localhost',150,'','f0169a67-1db9-45bd-b6f9-9569b800505d','60ac0d32-c9b1-4899-8c56-ec64c4ed7bd4','60ac0d32-c9b1-4899-8c56-ec64c4ed7bd4','alice@localhost','bob@localhost','chat','r 12',1795369974000,NULL,'acked',NULL,'d6b8fc62-bfb4-4778-8e9d-8a4275a4e215',1,4);
INSERT INTO message VALUES(44,1,'out','bob@localhost',153,'','7eb460fe-2c97-44df-9638-edbb48adac75','e356a908-c2de-4ef4-8062-dd25aae4b82b','e356a908-c2de-4ef4-8062-dd25aae4b82b','alice@localhost','bob@localhost','chat','r 13',1795369974000,NULL,'acked',NULL,'d6b8fc62-bfb4-4778-8e9d-8a4275a4e215',1,4);
INSERT INTO message VALUES(45,1,'in','bob@localhost',149,'','573cb95f-434c-4e59-907d-bb6f0f1b0c1a','53bd821ea88b4893af177a3efb491c3b',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 32',1795369974000,1795369974806,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(46,1,'in','bob@localhost',151,'','b4bc11c8-5eb8-4a15-92eb-02f68934b1a2','a2047f63f41745cfaf240dae16b86d74',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 33',1795369974000,1795369974807,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(47,1,'in','bob@localhost',152,'','c7c6a247-7551-4a7e-a1e1-cb7833f5a13b','a823c871525e4047a9115d1cb8b6c795',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 34',1795369974000,1795369974829,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(48,1,'in','bob@localhost',154,'','660053c0-2eba-4416-8242-f2957e3e2c0e','e3a3cec6e7c64690a15d8e8ece82cbab',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 35',1795369974000,1795369974830,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(49,1,'in','bob@localhost',155,'','f0f4d2e9-ed7f-4145-9bb1-cc4963cf96db','8ebf1b3059ee40d6bfc5847b5092a128',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 36',1795369974000,1795369974832,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(50,1,'in','bob@localhost',241,'','2896901b-2331-4794-aa84-aad36715abad','6a3cc4c0a19e450cb807f2d81697ddb1',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 37',1795369974000,1795369974849,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(51,1,'out','bob@localhost',242,'','8bf2966d-73e2-4deb-a83c-dcc0189221b3','71b8058d-3fa0-4dab-b79c-b47c83101556','71b8058d-3fa0-4dab-b79c-b47c83101556','alice@localhost','bob@localhost','chat','r 15',1795369974000,NULL,'acked',NULL,'2896901b-2331-4794-aa84-aad36715abad',1,4);
INSERT INTO message VALUES(52,1,'in','bob@localhost',243,'','ce840877-4afb-46e8-a7e0-6d9f54c6096a','4fd8571a89544dad97df286685c9fce5',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 38',1795369974000,1795369974864,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(53,1,'out','bob@localhost',244,'','1ada1510-ece1-4d1e-9561-8555bde5bb70','6bcc5b75-bd98-404e-9328-6d507238d7db','6bcc5b75-bd98-404e-9328-6d507238d7db','alice@localhost','bob@localhost','chat','r 16',1795369974000,NULL,'acked',NULL,'ce840877-4afb-46e8-a7e0-6d9f54c6096a',1,4);
INSERT INTO message VALUES(54,1,'in','bob@localhost',245,'','54f74ab0-73c7-4022-adfa-97c68b25ea20','1d6d280a99964457b2b7659149eb97f6',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 39',1795369974000,1795369974894,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(55,1,'out','bob@localhost',247,'','f1157d92-c808-49aa-adb1-510213530c96','5b289091-5258-43ef-9e4e-fb2808b0751f','5b289091-5258-43ef-9e4e-fb2808b0751f','alice@localhost','bob@localhost','chat','r 17',1795369974000,NULL,'acked',NULL,'54f74ab0-73c7-4022-adfa-97c68b25ea20',1,4);
INSERT INTO message VALUES(56,1,'in','bob@localhost',246,'','4874e2fc-e35b-4fd2-9a63-29690d8c9f0f','9c41561dd75d455a8b39acc848a93a8c',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 40',1795369974000,1795369974908,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(57,1,'in','bob@localhost',248,'','3e722800-dc83-4f9a-8ad8-8414801bd7b6','93ed5d8f775441b4896e87a40e17f7ad',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 41',1795369974000,1795369974931,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(58,1,'in','bob@localhost',249,'','85e80be1-5ecb-4abd-9846-b79791c4653e','65279f4c2c41455da60b027f3acbd6b2',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 42',1795369974000,1795369974939,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(59,1,'out','bob@localhost',250,'','6180eae4-cefa-4f73-a0c0-89482a38ba51','5d0da9f6-23fc-470f-b4a3-945fdd251e31','5d0da9f6-23fc-470f-b4a3-945fdd251e31','alice@localhost','bob@localhost','chat','r 18',1795369974000,NULL,'acked',NULL,'85e80be1-5ecb-4abd-9846-b79791c4653e',1,4);
INSERT INTO message VALUES(60,1,'in','bob@localhost',251,'','d33b3f7a-fbb2-47b3-a1dc-e65c7ebc7ed7','ad645358d23a4834bc6c97419fcbedf0',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 43',1795369974000,1795369974964,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(61,1,'in','bob@localhost',252,'','4acd121b-9a6b-4ef3-9a42-348aab332d4c','300415bf580148a2abf52df7ca8f75b6',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 44',1795369974000,1795369974970,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(62,1,'out','bob@localhost',253,'','f58b6acf-5eda-4e2b-8736-2cdab2e92b56','2981a558-6885-4072-8af0-9524ed6133b9','2981a558-6885-4072-8af0-9524ed6133b9','alice@localhost','bob@localhost','chat','r 19',1795369974000,NULL,'acked',NULL,'4acd121b-9a6b-4ef3-9a42-348aab332d4c',1,4);
INSERT INTO message VALUES(63,1,'in','bob@localhost',254,'','f2501fa8-266e-468b-8ace-e0c70051a508','1c62924b486547c08f354408abdf705b',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 45',1795369974000,1795369974987,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(64,1,'in','bob@localhost',255,'','dbc1f894-b058-4594-84ee-87bd937d0f92','a520991f5aca4417886dadcb896391c0',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 46',1795369975000,1795369975004,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(65,1,'out','bob@localhost',257,'','a3b96b69-7f97-47ca-9993-c92c00b06b43','0fcec4da-43a1-4f73-8759-1c03bbc30269','0fcec4da-43a1-4f73-8759-1c03bbc30269','alice@localhost','bob@localhost','chat','r 20',1795369975000,NULL,'acked',NULL,'dbc1f894-b058-4594-84ee-87bd937d0f92',1,4);
INSERT INTO message VALUES(66,1,'in','bob@localhost',256,'','a1a02a25-d53e-4da0-867a-a7ce88e42145','da2941ae43784af887b2c6657ddd1488',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 47',1795369975000,1795369975022,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(67,1,'in','bob@localhost',258,'','34c3ecde-a362-4f3c-8d60-5d3ce7ee179c','a97e1b523e104e46ad5916f6644a535e',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 48',1795369975000,1795369975037,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(68,1,'out','bob@localhost',259,'','56aeb883-18e5-4d89-8f2c-46fdfff980ea','9deca516-2d81-485c-b6ce-cabd27b9e681','9deca516-2d81-485c-b6ce-cabd27b9e681','alice@localhost','bob@localhost','chat','r 21',1795369975000,NULL,'acked',NULL,'34c3ecde-a362-4f3c-8d60-5d3ce7ee179c',1,4);
INSERT INTO message VALUES(69,1,'out','bob@localhost',264,'','3c44ac64-96f1-4877-beb5-ca5c37400d67','c1e1d7e1-0a66-473a-9db0-92b02bd34bd6','c1e1d7e1-0a66-473a-9db0-92b02bd34bd6','alice@localhost','bob@localhost','chat','r 22',1795369975000,NULL,'acked',NULL,'314341ac-4632-4267-84f3-a603d33c6fa0',1,4);
INSERT INTO message VALUES(70,1,'in','bob@localhost',260,'','cb32d314-292f-4dc1-802b-51b15d9cd3df','19d34a68c94c48029d9f8902287bc7cb',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 49',1795369975000,1795369975108,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(71,1,'in','bob@localhost',261,'','32755db1-bea5-43c5-9665-a981b1b60749','6e232655f74e472db94652a4c3fe81ea',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 50',1795369975000,1795369975108,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(72,1,'in','bob@localhost',262,'','2573b132-adfa-4750-b481-9892c320f511','c548faebff014d1ba0e538c157f17f27',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 51',1795369975000,1795369975109,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(73,1,'in','bob@localhost',263,'','314341ac-4632-4267-84f3-a603d33c6fa0','0b56bb801b28486b8cee0e44ee06290a',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 52',1795369975000,1795369975109,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(74,1,'in','bob@localhost',265,'','9726575c-247b-434e-b870-0c946a95697d','491a802220564a1aac56618aa5fddb90',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 53',1795369975000,1795369975132,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(75,1,'in','bob@localhost',266,'','3e02e66a-a31d-4fe5-9762-7fe62f802c3d','ed67b9e49b3c4870b263b6c36413a16d',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 54',1795369975000,1795369975148,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(76,1,'in','bob@localhost',267,'','18ea509f-9f4e-46a1-a3e9-c903191a9922','6a444f97183143228cbfadfea835a3bf',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 55',1795369975000,1795369975152,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(77,1,'in','bob@localhost',268,'','37a87e0a-ad52-4c6f-9980-4af62acea231','c8850781e448406f82f51e5537df544b',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 56',1795369975000,1795369975167,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(78,1,'in','bob@localhost',269,'','d8af6800-ff8b-4caf-b30c-119ca6b3056a','1eb7168deaa2410fa61af3c630b8d6c6',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 57',1795369975000,1795369975181,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(79,1,'in','bob@localhost',270,'','2b387863-b3bd-4c9c-8aea-daa16706e5c5','479d1c1b193e40e5bcb5a846c1a624b1',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 58',1795369975000,1795369975203,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(80,1,'in','bob@localhost',271,'','68bdf1e9-a03d-4fd0-bd0e-6e7517ba0a21','d961d58b2d964cfc941b083d6c9052c8',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 59',1795369975000,1795369975215,NULL,NULL,NULL,1,4);
INSERT INTO message VALUES(81,1,'in','bob@localhost',272,'','91920f19-49ab-4693-934a-b3928e80c036','30be317bc18f4aac9323be971cc7459d',NULL,'bob@localhost/L6CHiUBNyqSC','alice@localhost','chat','m 60',1795369975000,1795369975280,NULL,NULL,NULL,1,4);
CREATE TABLE request(
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    id TEXT NOT NULL,               -- the stanza's id, random
    responder TEXT NOT NULL,        -- who was asked; '' is the account itself
    asked_at INTEGER NOT NULL,
    deadline INTEGER NOT NULL,
    sent INTEGER NOT NULL DEFAULT 0, -- when its bytes last left, so that an answer may be on the way; 0: not yet
    name TEXT NOT NULL,             -- the handler's
    handler BLOB NOT NULL,
    crashes INTEGER NOT NULL DEFAULT 0, -- processes that ended while they called it
    PRIMARY KEY (account, id)) WITHOUT ROWID;
CREATE TABLE timer(
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: who holds an old one must not cancel another
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    name TEXT NOT NULL,
    handler BLOB NOT NULL,
    crashes INTEGER NOT NULL DEFAULT 0);
CREATE TABLE promise(
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice: who holds an old one must not get another's value
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    until INTEGER NOT NULL,         -- when it is rejected, or, once it is settled, forgotten
    result BLOB);
CREATE TABLE waiter(
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    promise INTEGER NOT NULL,
    next INTEGER,                   -- the promise that the handler is to settle
    name TEXT NOT NULL,
    handler BLOB NOT NULL,
    crashes INTEGER NOT NULL DEFAULT 0);
CREATE TABLE dead_letter(
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    origin TEXT NOT NULL,           -- what it waited for: 'request', 'timer', 'promise'; 'share': what was left
    name TEXT NOT NULL,             -- '' if not even that can be read
    reason TEXT NOT NULL,
    handler BLOB NOT NULL);
CREATE TABLE question(
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    request TEXT NOT NULL,          -- the stanza's id
    recipient TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    answered_at INTEGER,
    outcome TEXT,                   -- 'result', 'error', 'timeout', 'invalidated'
    reason TEXT,
    answer BLOB,
    round_trip INTEGER);
CREATE TABLE archive_range(
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    archive TEXT NOT NULL,          -- '' is the account's own, else a room's bare address
    first_id TEXT NOT NULL,         -- the archive's id of its first message
    first_position INTEGER NOT NULL,
    first_at INTEGER,               -- the archive's stamp of it
    before_id TEXT NOT NULL,        -- where reading what is before begins: its first message or the next one
    last_id TEXT NOT NULL,
    last_position INTEGER NOT NULL,
    last_at INTEGER,
    again_id TEXT NOT NULL,         -- where reading on begins: a few messages before its last
    bottom INTEGER NOT NULL);
INSERT INTO archive_range VALUES(1,1,'','66c598a3-c8b3-4f26-8e96-231ca251ab2c',1,1795369974000,'66c598a3-c8b3-4f26-8e96-231ca251ab2c','91920f19-49ab-4693-934a-b3928e80c036',272,1795369975000,'66c598a3-c8b3-4f26-8e96-231ca251ab2c',1);
CREATE TABLE catchup(
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    archive TEXT NOT NULL,
    number INTEGER NOT NULL,        -- grows with each round
    phase TEXT NOT NULL,            -- 'before-presence', 'after-presence', 'done'
    trusted INTEGER NOT NULL DEFAULT 0, -- of a room: whether the stanza-ids that it stamps are trusted
    since INTEGER NOT NULL,         -- where to begin if nothing was read yet; 0: the archive had nothing before
    probed INTEGER NOT NULL DEFAULT 0, -- whether it was found out if there is something before
    range INTEGER,                  -- the range that is extended; NULL: a new one
    bottom INTEGER NOT NULL DEFAULT 0, -- of the new one
    query_id TEXT, request TEXT,    -- the open page
    cursor TEXT,                    -- it begins behind this message,
    start INTEGER,                  -- or at this time
    reached TEXT,                   -- the last message of the page before
    placed INTEGER NOT NULL DEFAULT 0, -- the order number of the last message shown
    changed_behind INTEGER,         -- the order number behind which something was found that was not there
    seen INTEGER NOT NULL DEFAULT 0, -- how many messages the round has shown,
    shown INTEGER NOT NULL DEFAULT 0, -- and the page
    first_id TEXT, first_position INTEGER, first_at INTEGER, -- the first one of the round
    last_id TEXT, last_at INTEGER,  -- the last one shown
    previous_id TEXT,               -- the one before it that has another id
    again_id TEXT, again_next TEXT, -- two in the distance in which reading begins again
    again_at INTEGER,               -- the archive's stamp of the second,
    again_seen INTEGER NOT NULL DEFAULT 0, -- and how many messages the round had shown by then
    problem TEXT,
    PRIMARY KEY (account, archive)) WITHOUT ROWID;
INSERT INTO catchup VALUES(1,'',4,'done',0,0,1,1,0,NULL,NULL,'91920f19-49ab-4693-934a-b3928e80c036',1795369974000,'91920f19-49ab-4693-934a-b3928e80c036',272,159,82,32,'66c598a3-c8b3-4f26-8e96-231ca251ab2c',1,1795369974000,'91920f19-49ab-4693-934a-b3928e80c036',1795369975000,'68bdf1e9-a03d-4fd0-bd0e-6e7517ba0a21','66c598a3-c8b3-4f26-8e96-231ca251ab2c','66c598a3-c8b3-4f26-8e96-231ca251ab2c',1795369974000,1,NULL);
CREATE TABLE filling(
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    archive TEXT NOT NULL,
    gaps INTEGER NOT NULL,          -- whether gaps between ranges are to be filled
    wanted INTEGER NOT NULL,        -- how many messages are wanted from before the first range
    stored INTEGER NOT NULL DEFAULT 0, -- how many it has brought
    range INTEGER,                  -- the range whose begin is moved back; NULL: a new one
    query_id TEXT, request TEXT,    -- the open page
    cursor TEXT,                    -- it ends before this message,
    stop INTEGER,                   -- or at this time
    base INTEGER NOT NULL DEFAULT 0, -- the order number of its first message
    shown INTEGER NOT NULL DEFAULT 0, -- how many messages it has shown
    placed INTEGER NOT NULL DEFAULT 0, -- and how many of them were in no range
    first_id TEXT, first_at INTEGER, second_id TEXT, last_id TEXT, last_at INTEGER,
    met INTEGER,                    -- the older range that it has met
    outcome TEXT,                   -- NULL: it goes on; '': done; else why it ended
    PRIMARY KEY (account, archive)) WITHOUT ROWID;
CREATE TABLE quarantine(
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    name TEXT NOT NULL,
    sender TEXT,
    size INTEGER NOT NULL,          -- bytes on the wire
    stanza BLOB NOT NULL,           -- its first 64 KiB
    position INTEGER,               -- the order number kept for it
    retry TEXT, archive TEXT, archive_id TEXT, author TEXT NOT NULL DEFAULT '');
CREATE TABLE attempt(
    account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
    session INTEGER NOT NULL,
    count INTEGER NOT NULL,
    attempts INTEGER NOT NULL);
INSERT INTO attempt VALUES(1,1,180,1);
CREATE TABLE notification(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    message INTEGER NOT NULL REFERENCES message(id) ON DELETE CASCADE,
    conversation TEXT NOT NULL,
    kind TEXT NOT NULL,             -- 'show', 'withdraw'
    -- Whether it was going to be shown: the user may have seen it, though it is not done.
    begun INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0);
CREATE TABLE capability(
    id INTEGER PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,      -- with its kind and algorithm
    info BLOB NOT NULL,             -- the <query/>
    used_at INTEGER NOT NULL);
CREATE TABLE entity(
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    jid TEXT NOT NULL,
    hash TEXT NOT NULL,             -- '' if there is none
    node TEXT NOT NULL,             -- what to ask it about
    state INTEGER NOT NULL,         -- 0: to be asked; 1: asked; 2: known by its hash; 3: spoke for itself; 4: given up
    asked_at INTEGER NOT NULL DEFAULT 0,
    info BLOB);
INSERT INTO entity VALUES(1,1,'localhost','','',3,0,X'3c717565727920786d6c6e733d27687474703a2f2f6a61626265722e6f72672f70726f746f636f6c2f646973636f23696e666f273e3c6964656e746974792063617465676f72793d2773657276657227206e616d653d2750726f736f64792720747970653d27696d272f3e3c66656174757265207661723d276a61626265723a69713a76657273696f6e272f3e3c66656174757265207661723d276a61626265723a69713a70726976617465272f3e3c66656174757265207661723d2776636172642d74656d70272f3e3c66656174757265207661723d276a61626265723a69713a6c617374272f3e3c66656174757265207661723d2775726e3a786d70703a636172626f6e733a72756c65733a30272f3e3c66656174757265207661723d2775726e3a786d70703a636172626f6e733a32272f3e3c66656174757265207661723d2775726e3a786d70703a74696d65272f3e3c66656174757265207661723d276a61626265723a69713a74696d65272f3e3c66656174757265207661723d276a61626265723a69713a726f73746572272f3e3c66656174757265207661723d2775726e3a786d70703a626c6f636b696e67272f3e3c66656174757265207661723d27687474703a2f2f6a61626265722e6f72672f70726f746f636f6c2f646973636f23696e666f272f3e3c66656174757265207661723d27687474703a2f2f6a61626265722e6f72672f70726f746f636f6c2f646973636f236974656d73272f3e3c66656174757265207661723d2775726e3a786d70703a70696e67272f3e3c7820786d6c6e733d276a61626265723a783a646174612720747970653d27726573756c74273e3c6669656c6420747970653d2768696464656e27207661723d27464f524d5f54595045273e3c76616c75653e687474703a2f2f6a61626265722e6f72672f6e6574776f726b2f736572766572696e666f3c2f76616c75653e3c2f6669656c643e3c6669656c6420747970653d276c6973742d6d756c746927207661723d2761627573652d616464726573736573272f3e3c6669656c6420747970653d276c6973742d6d756c746927207661723d2761646d696e2d616464726573736573272f3e3c6669656c6420747970653d276c6973742d6d756c746927207661723d27666565646261636b2d616464726573736573272f3e3c6669656c6420747970653d276c6973742d6d756c746927207661723d2773616c65732d616464726573736573272f3e3c6669656c6420747970653d276c6973742d6d756c746927207661723d2773656375726974792d616464726573736573272f3e3c6669656c6420747970653d276c6973742d6d756c746927207661723d277374617475732d616464726573736573272f3e3c6669656c6420747970653d276c6973742d6d756c746927207661723d27737570706f72742d616464726573736573272f3e3c2f783e3c2f71756572793e');
CREATE TABLE shared(id INTEGER PRIMARY KEY CHECK (id = 1), mailbox TEXT NOT NULL, last INTEGER NOT NULL);
INSERT INTO shared VALUES(1,'9d20b3724c89a8da659ab3d9286852a1',21);
CREATE TABLE slow_step(kind TEXT PRIMARY KEY, count INTEGER NOT NULL, longest INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE barrier(id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL);
INSERT INTO barrier VALUES(1,74);
CREATE TABLE archive_preference(
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    conversation TEXT NOT NULL,
    keeps INTEGER NOT NULL,
    PRIMARY KEY (account, conversation)) WITHOUT ROWID;
CREATE TABLE subscriber(
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    jid TEXT NOT NULL,
    PRIMARY KEY (account, jid)) WITHOUT ROWID;
CREATE TABLE asker(
    id INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES account(id) ON DELETE CASCADE,
    stanza BLOB NOT NULL);
CREATE TABLE event(
    -- Never given twice: readers know what they have by the last one. The row with the highest one is never deleted,
    -- which costs a page less in each commit than AUTOINCREMENT.
    number INTEGER PRIMARY KEY,
    account INTEGER REFERENCES account(id) ON DELETE SET NULL, -- NULL: there is nothing to tell, or no longer
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,             -- 'message', 'unsettled', or the state that the message came to
    message INTEGER NOT NULL);
INSERT INTO event VALUES(1,1,1795369974312,'message',1);
INSERT INTO event VALUES(2,1,1795369974312,'message',2);
INSERT INTO event VALUES(3,1,1795369974312,'message',3);
INSERT INTO event VALUES(4,1,1795369974312,'message',4);
INSERT INTO event VALUES(5,1,1795369974325,'message',5);
INSERT INTO event VALUES(6,1,1795369974332,'queued',6);
INSERT INTO event VALUES(7,1,1795369974332,'sent',6);
INSERT INTO event VALUES(8,1,1795369974336,'message',7);
INSERT INTO event VALUES(9,1,1795369974344,'acked',6);
INSERT INTO event VALUES(10,1,1795369974348,'message',8);
INSERT INTO event VALUES(11,1,1795369974362,'queued',9);
INSERT INTO event VALUES(12,1,1795369974363,'sent',9);
INSERT INTO event VALUES(13,1,1795369974371,'message',10);
INSERT INTO event VALUES(14,1,1795369974374,'acked',9);
INSERT INTO event VALUES(15,1,1795369974386,'message',11);
INSERT INTO event VALUES(16,1,1795369974395,'queued',12);
INSERT INTO event VALUES(17,1,1795369974396,'sent',12);
INSERT INTO event VALUES(18,1,1795369974401,'message',13);
INSERT INTO event VALUES(19,1,1795369974401,'acked',12);
INSERT INTO event VALUES(20,1,1795369974421,'queued',14);
INSERT INTO event VALUES(21,1,1795369974421,'sent',14);
INSERT INTO event VALUES(22,1,1795369974427,'message',15);
INSERT INTO event VALUES(23,1,1795369974442,'acked',14);
INSERT INTO event VALUES(24,1,1795369974442,'message',16);
INSERT INTO event VALUES(25,1,1795369974447,'message',17);
INSERT INTO event VALUES(26,1,1795369974465,'message',18);
INSERT INTO event VALUES(27,1,1795369974477,'queued',19);
INSERT INTO event VALUES(28,1,1795369974477,'sent',19);
INSERT INTO event VALUES(29,1,1795369974486,'acked',19);
INSERT INTO event VALUES(30,1,1795369974486,'message',20);
INSERT INTO event VALUES(31,1,1795369974504,'queued',21);
INSERT INTO event VALUES(32,1,1795369974504,'sent',21);
INSERT INTO event VALUES(33,1,1795369974511,'message',22);
INSERT INTO event VALUES(34,1,1795369974535,'acked',21);
INSERT INTO event VALUES(35,1,1795369974535,'message',23);
INSERT INTO event VALUES(36,1,1795369974547,'message',24);
INSERT INTO event VALUES(37,1,1795369974550,'message',25);
INSERT INTO event VALUES(38,1,1795369974562,'queued',26);
INSERT INTO event VALUES(39,1,1795369974562,'sent',26);
INSERT INTO event VALUES(10039,NULL,1795369974554,'message',0);
INSERT INTO event VALUES(20039,NULL,1795369974602,'message',0);
INSERT INTO event VALUES(20040,1,1795369974632,'queued',27);
INSERT INTO event VALUES(20041,1,1795369974640,'acked',26);
INSERT INTO event VALUES(20042,1,1795369974641,'message',28);
INSERT INTO event VALUES(20043,1,1795369974642,'message',29);
INSERT INTO event VALUES(20044,1,1795369974642,'message',30);
INSERT INTO event VALUES(20045,1,1795369974642,'message',31);
INSERT INTO event VALUES(20046,1,1795369974642,'message',32);
INSERT INTO event VALUES(20047,1,1795369974642,'sent',27);
INSERT INTO event VALUES(20048,1,1795369974662,'queued',33);
INSERT INTO event VALUES(20049,1,1795369974662,'sent',33);
INSERT INTO event VALUES(20050,1,1795369974678,'acked',27);
INSERT INTO event VALUES(20051,1,1795369974679,'message',34);
INSERT INTO event VALUES(20052,1,1795369974679,'message',35);
INSERT INTO event VALUES(20053,1,1795369974690,'acked',33);
INSERT INTO event VALUES(20054,1,1795369974690,'message',36);
INSERT INTO event VALUES(20055,1,1795369974692,'queued',37);
INSERT INTO event VALUES(20056,1,1795369974692,'sent',37);
INSERT INTO event VALUES(20057,1,1795369974701,'message',38);
INSERT INTO event VALUES(20058,1,1795369974702,'acked',37);
INSERT INTO event VALUES(20059,1,1795369974720,'queued',39);
INSERT INTO event VALUES(20060,1,1795369974720,'sent',39);
INSERT INTO event VALUES(20061,1,1795369974726,'message',40);
INSERT INTO event VALUES(20062,1,1795369974734,'acked',39);
INSERT INTO event VALUES(20063,1,1795369974734,'message',41);
INSERT INTO event VALUES(20064,1,1795369974748,'message',42);
INSERT INTO event VALUES(20065,1,1795369974760,'queued',43);
INSERT INTO event VALUES(20066,1,1795369974761,'sent',43);
INSERT INTO event VALUES(20067,1,1795369974795,'queued',44);
INSERT INTO event VALUES(20068,1,1795369974795,'sent',44);
INSERT INTO event VALUES(20069,1,1795369974806,'message',45);
INSERT INTO event VALUES(20070,1,1795369974806,'acked',43);
INSERT INTO event VALUES(20071,1,1795369974807,'message',46);
INSERT INTO event VALUES(20072,1,1795369974829,'message',47);
INSERT INTO event VALUES(20073,1,1795369974829,'acked',44);
INSERT INTO event VALUES(20074,1,1795369974830,'message',48);
INSERT INTO event VALUES(20075,1,1795369974832,'message',49);
INSERT INTO event VALUES(20076,1,1795369974849,'message',50);
INSERT INTO event VALUES(20077,1,1795369974854,'queued',51);
INSERT INTO event VALUES(20078,1,1795369974854,'sent',51);
INSERT INTO event VALUES(20079,1,1795369974862,'acked',51);
INSERT INTO event VALUES(20080,1,1795369974864,'message',52);
INSERT INTO event VALUES(20081,1,1795369974877,'queued',53);
INSERT INTO event VALUES(20082,1,1795369974877,'sent',53);
INSERT INTO event VALUES(20083,1,1795369974881,'acked',53);
INSERT INTO event VALUES(20084,1,1795369974894,'message',54);
INSERT INTO event VALUES(20085,1,1795369974906,'queued',55);
INSERT INTO event VALUES(20086,1,1795369974906,'sent',55);
INSERT INTO event VALUES(20087,1,1795369974908,'message',56);
INSERT INTO event VALUES(20088,1,1795369974931,'acked',55);
INSERT INTO event VALUES(20089,1,1795369974931,'message',57);
INSERT INTO event VALUES(20090,1,1795369974939,'message',58);
INSERT INTO event VALUES(20091,1,1795369974944,'queued',59);
INSERT INTO event VALUES(20092,1,1795369974944,'sent',59);
INSERT INTO event VALUES(20093,1,1795369974963,'acked',59);
INSERT INTO event VALUES(20094,1,1795369974964,'message',60);
INSERT INTO event VALUES(20095,1,1795369974970,'message',61);
INSERT INTO event VALUES(20096,1,1795369974974,'queued',62);
INSERT INTO event VALUES(20097,1,1795369974974,'sent',62);
INSERT INTO event VALUES(20098,1,1795369974986,'acked',62);
INSERT INTO event VALUES(20099,1,1795369974987,'message',63);
INSERT INTO event VALUES(20100,1,1795369975004,'message',64);
INSERT INTO event VALUES(20101,1,1795369975010,'queued',65);
INSERT INTO event VALUES(20102,1,1795369975010,'sent',65);
INSERT INTO event VALUES(20103,1,1795369975022,'message',66);
INSERT INTO event VALUES(20104,1,1795369975022,'acked',65);
INSERT INTO event VALUES(20105,1,1795369975037,'message',67);
INSERT INTO event VALUES(20106,1,1795369975041,'queued',68);
INSERT INTO event VALUES(20107,1,1795369975041,'sent',68);
INSERT INTO event VALUES(30107,NULL,1795369975070,'message',0);
INSERT INTO event VALUES(30108,1,1795369975093,'queued',69);
INSERT INTO event VALUES(30109,1,1795369975107,'acked',68);
INSERT INTO event VALUES(30110,1,1795369975108,'message',70);
INSERT INTO event VALUES(30111,1,1795369975108,'message',71);
INSERT INTO event VALUES(30112,1,1795369975109,'message',72);
INSERT INTO event VALUES(30113,1,1795369975109,'message',73);
INSERT INTO event VALUES(30114,1,1795369975109,'sent',69);
INSERT INTO event VALUES(30115,1,1795369975132,'message',74);
INSERT INTO event VALUES(30116,1,1795369975148,'message',75);
INSERT INTO event VALUES(30117,1,1795369975148,'acked',69);
INSERT INTO event VALUES(30118,1,1795369975152,'message',76);
INSERT INTO event VALUES(30119,1,1795369975167,'message',77);
INSERT INTO event VALUES(30120,1,1795369975181,'message',78);
INSERT INTO event VALUES(30121,1,1795369975203,'message',79);
INSERT INTO event VALUES(30122,1,1795369975215,'message',80);
INSERT INTO event VALUES(40122,NULL,1795369975256,'message',0);
INSERT INTO event VALUES(40123,1,1795369975280,'message',81);
CREATE TABLE event_forgotten(id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL);
INSERT INTO event_forgotten VALUES(1,0);
CREATE TABLE clock(
    id INTEGER PRIMARY KEY CHECK (id = 1),
    boot TEXT NOT NULL,             -- which start of the machine
    base INTEGER NOT NULL,
    last INTEGER NOT NULL);
INSERT INTO clock VALUES(1,'3deaf31f-815e-4838-8501-ba4daec87713',1795354073283,1795369973890);
CREATE TABLE server_time(
    account INTEGER PRIMARY KEY REFERENCES account(id) ON DELETE CASCADE,
    ahead INTEGER,                  -- milliseconds by which the server's time is at least ahead of the steady time
    base INTEGER NOT NULL,          -- of the steady time when that was found out; before, when the account came
    since INTEGER);
INSERT INTO server_time VALUES(1,-307,1795354073283,1795369973583);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('queue',35);
CREATE INDEX queue_order ON queue(account, id);
CREATE INDEX message_order ON message(account, conversation, position);
CREATE UNIQUE INDEX message_unarchived ON message(account, sender, origin_id)
    WHERE stanza_id IS NULL AND origin_id IS NOT NULL AND direction = 'in';
CREATE UNIQUE INDEX message_own ON message(account, origin_id)
    WHERE direction = 'out' AND origin_id IS NOT NULL AND received_at IS NULL;
CREATE INDEX message_unstamped ON message(account, sender, origin_id)
    WHERE stanza_id IS NULL AND direction = 'out' AND received_at IS NOT NULL;
CREATE INDEX request_deadline ON request(account, deadline);
CREATE INDEX request_name ON request(account, name);
CREATE INDEX timer_order ON timer(account, at);
CREATE INDEX promise_pending ON promise(account, until) WHERE result IS NULL;
CREATE INDEX promise_settled ON promise(account, until) WHERE result IS NOT NULL;
CREATE INDEX waiter_promise ON waiter(account, promise);
CREATE INDEX archive_range_order ON archive_range(account, archive, last_position);
CREATE INDEX quarantine_retry ON quarantine(account, id) WHERE retry = 'wanted';
CREATE INDEX notification_pending ON notification(id) WHERE done = 0;
CREATE INDEX notification_message ON notification(message);
CREATE INDEX notification_conversation ON notification(account, conversation);
CREATE INDEX capability_use ON capability(used_at);
CREATE UNIQUE INDEX entity_jid ON entity(account, jid);
CREATE INDEX entity_hash ON entity(hash, account);
CREATE INDEX entity_open ON entity(account, state) WHERE state < 2;
CREATE INDEX entity_own_word ON entity(account, id) WHERE info IS NOT NULL;
CREATE INDEX asker_account ON asker(account);
CREATE UNIQUE INDEX message_archived ON message(stanza_id, account, archive, sender, message_id)
    WHERE stanza_id IS NOT NULL;
CREATE INDEX message_unfinished ON message(account, state, settled) WHERE state IN ('queued', 'sent', 'failed');
CREATE INDEX message_written ON message(account, conversation) WHERE direction = 'out';
CREATE INDEX queue_request ON queue(account, request) WHERE request IS NOT NULL;
CREATE UNIQUE INDEX quarantine_archived ON quarantine(account, archive, archive_id, author)
    WHERE archive_id IS NOT NULL;
CREATE INDEX quarantine_size ON quarantine(account, size);
CREATE INDEX quarantine_author ON quarantine(account, author);
COMMIT;
